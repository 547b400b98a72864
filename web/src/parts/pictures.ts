// Pictures of what the page draws, as files: a canvas as it is, an SVG with the styles that the page
// gives it. Both on the page's own ground, for what is drawn is transparent elsewhere.

const kSvgScale = 2;
// As attributes: a style would be refused by the page's content security policy.
const kStyles = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
];

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function ground(width: number, height: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const style = getComputedStyle(document.documentElement);
  context.fillStyle = style.getPropertyValue("--surface").trim();
  context.fillRect(0, 0, width, height);
  return canvas;
}

async function imageOf(svg: SVGSVGElement, width: number, height: number) {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const parts = copy.querySelectorAll("*");
  svg.querySelectorAll("*").forEach((part, at) => {
    const style = getComputedStyle(part);
    for (const name of kStyles) parts[at]?.setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const text = new XMLSerializer().serializeToString(copy);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  return image;
}

export async function savePng(
  picture: HTMLCanvasElement | SVGSVGElement,
  name: string,
): Promise<void> {
  const isCanvas = picture instanceof HTMLCanvasElement;
  const box = isCanvas ? null : picture.viewBox.baseVal;
  const width = box ? kSvgScale * box.width : (picture as HTMLCanvasElement).width;
  const height = box ? kSvgScale * box.height : (picture as HTMLCanvasElement).height;
  const drawn = isCanvas ? picture : await imageOf(picture, width, height);
  const canvas = ground(width, height);
  canvas.getContext("2d")?.drawImage(drawn, 0, 0, width, height);
  canvas.toBlob((blob) => {
    if (blob) saveFile(blob, `${name}.png`);
  }, "image/png");
}
