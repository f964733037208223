// Numbers for the eye.

/** A share as a percentage, with as many digits as tell something. */
export function percent(share: number): string {
  const value = share * 100;
  if (!Number.isFinite(value)) return "–";
  if (value > 0 && value < 0.01) return "< 0.01 %";
  return `${value >= 99.95 ? "100" : value >= 10 ? value.toFixed(1) : value.toFixed(2)} %`;
}

/** A weight in two or three digits; what is less is nothing. */
export function weight(value: number): string {
  if (Math.abs(value) < 0.0005) return "0";
  return signed(value, Math.abs(value) < 0.1 ? 3 : 2);
}

/** A number with a true minus sign, and no negative nothing. */
export function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}
