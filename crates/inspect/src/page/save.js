// What every page needs that makes pictures to be downloaded.

const svgSpace = "http://www.w3.org/2000/svg";

function svgElement(name, attributes, parent, text) {
  const element = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function sizeSvg(svg, width, height) {
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
    svg.setAttribute(key, value);
  }
}

const font = (size) => `${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, size) {
  measure.font = font(size);
  return measure.measureText(text).width;
}

/** Hands a file to the reader. */
function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function svgBlob(svg) {
  return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
}

/** Draws the SVG at twice its size, or smaller where a canvas could not hold it. */
async function pngBlob(svg) {
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  const scale = Math.min(2, 16000 / width, 16000 / height, Math.sqrt(1e8 / (width * height)));
  const address = URL.createObjectURL(svgBlob(svg));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
