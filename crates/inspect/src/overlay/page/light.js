// Images with colours over them: the same as in the pictures that the program draws itself.

/** The colour of a part of the largest weight, from 0 to 1. */
function glow(part) {
  const { colours } = data;
  const place = Math.max(0, Math.min(1, part)) * (colours.length - 1);
  const below = Math.min(Math.floor(place), colours.length - 2);
  return colours[below].map((channel, at) => channel + (colours[below + 1][at] - channel) * (place - below));
}

const partOf = (weight, limit) => (limit > 0 ? Math.min(1, weight / limit) : 0);
const most = (values) => values.reduce((largest, value) => Math.max(largest, value), 0);

function canvasOf(width, height) {
  return element("canvas", { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) });
}

/** Decodes an image, and makes of it the shade that lies over colours. */
async function loadPicture({ address, levels: [low, high] }) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const shade = canvasOf(width, height);
  const context = shade.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, width, height);
  for (let at = 0; at < pixels.data.length; at += 4) {
    const [red, green, blue] = pixels.data.subarray(at, at + 3);
    const lit = (0.299 * red + 0.587 * green + 0.114 * blue - low) / (high - low);
    pixels.data.set([0, 0, 0, Math.round(255 * data.shade * (1 - Math.max(0, Math.min(1, lit))))], at);
  }
  context.putImageData(pixels, 0, 0);
  return { image, shade, width, height };
}

/** For each of some points along a line of regions: four regions, and how much each of them counts there. */
function curves(regions, points) {
  return Array.from({ length: points }, (_, point) => {
    const place = Math.max(0, Math.min(regions - 1, ((point + 0.5) * regions) / points - 0.5));
    const first = Math.floor(place);
    const t = place - first;
    const counts = [((2 - t) * t - 1) * t, (3 * t - 5) * t * t + 2, ((4 - 3 * t) * t + 1) * t, (t - 1) * t * t];
    return counts.map((count, at) => [Math.max(0, Math.min(regions - 1, first + at - 1)), count / 2]);
  });
}

/** Weights in their colours: smooth, or a pixel for each region. */
function focusCanvas(weights, { rows, columns }, limit, smooth) {
  const each = smooth ? Math.max(1, Math.floor(128 / Math.max(rows, columns))) : 1;
  const [height, width] = [rows * each, columns * each];
  const canvas = canvasOf(width, height);
  const pixels = new ImageData(width, height);
  const [down, across] = [curves(rows, height), curves(columns, width)];
  const sum = (curve, value) => curve.reduce((total, [at, count]) => total + count * value(at), 0);
  const lines = Array.from({ length: rows }, (_, row) =>
    across.map((curve) => sum(curve, (column) => weights[row * columns + column])));
  down.forEach((curve, y) => across.forEach((_, x) => {
    const weight = Math.max(0, sum(curve, (row) => lines[row][x]));
    pixels.data.set([...glow(partOf(weight, limit)).map(Math.round), 255], 4 * (y * width + x));
  }));
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

/** Draws a picture into a whole canvas: with a focus over it, or as it is. */
function compose(canvas, picture, focus, smooth) {
  const context = canvas.getContext("2d");
  const { width, height } = canvas;
  Object.assign(context, { imageSmoothingEnabled: true, imageSmoothingQuality: "high" });
  if (!focus) return context.drawImage(picture.image, 0, 0, width, height);
  context.imageSmoothingEnabled = smooth;
  context.drawImage(focus, 0, 0, width, height);
  context.imageSmoothingEnabled = true;
  context.drawImage(picture.shade, 0, 0, width, height);
}

/** The width and height of a picture in a square. */
function fitted({ width, height }, side) {
  return [width, height].map((length) => Math.max(6, Math.round((length / Math.max(width, height)) * side)));
}

/** A weight in full, and in short. */
const fullWeight = (value) => (value === 0 ? "0" : String(Number(value.toPrecision(4)))).replace("-", "−");
function shortWeight(value) {
  if (value === 0 || value < 1e-3 || value >= 1000) return String(Number(value.toPrecision(2))).replace("-", "−");
  return value.toFixed(Math.max(0, Math.min(4, 1 - Math.floor(Math.log10(value)))));
}

/** How a focus agrees with where the thing is. */
const agreement = ({ inside, hit }) => (inside === null ? "" : `${hit ? "✓" : "✗"} ${Math.round(100 * inside)} %`);
