// Pictures of what the page draws, as files: a canvas as it is, an SVG with the styles that the page
// gives it. Both on the page's own ground, for what is drawn is transparent elsewhere.

export type Picture = HTMLCanvasElement | SVGSVGElement;

const kSvgScale = 2;
const kTitleHeight = 24; // in the page's pixels
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

// What the page says above a picture: its run's name, or its section's, and its figure's caption.
function titleOf(picture: Picture): string {
  const caption = picture.closest("figure")?.querySelector("figcaption")?.cloneNode(true);
  if (caption instanceof HTMLElement) {
    caption.querySelectorAll(".readout, button").forEach((part) => part.remove());
  }
  const owner =
    document.querySelector("h1.run-name") ?? picture.closest("section")?.querySelector("h2");
  return [owner, caption]
    .map((part) => part?.textContent?.replace(/\s+/g, " ").trim())
    .filter(Boolean)
    .join(" · ");
}

interface Drawn {
  title: string;
  image: CanvasImageSource;
  scale: number; // pixels of the file for one of the page
  width: number;
  height: number;
}

async function drawn(picture: Picture): Promise<Drawn> {
  const title = titleOf(picture);
  if (picture instanceof HTMLCanvasElement) {
    const { width, height } = picture;
    return { title, image: picture, scale: devicePixelRatio, width, height };
  }
  const box = picture.viewBox.baseVal;
  const [width, height] = [kSvgScale * box.width, kSvgScale * box.height];
  return { title, image: await imageOf(picture, width, height), scale: kSvgScale, width, height };
}

// Below one another in one file: a browser asks its user before a page may save a second one.
export async function savePng(pictures: Iterable<Picture>, name: string): Promise<void> {
  const all = await Promise.all([...pictures].map(drawn));
  const titleHeight = ({ title, scale }: Drawn) => (title ? kTitleHeight * scale : 0);
  const canvas = ground(
    Math.max(0, ...all.map((one) => one.width)),
    all.reduce((sum, one) => sum + titleHeight(one) + one.height, 0),
  );
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(document.body);
  context.fillStyle = style.color;
  context.textBaseline = "middle";
  let top = 0;
  for (const one of all) {
    const height = titleHeight(one);
    context.font = `600 ${height / 2}px ${style.fontFamily}`;
    context.fillText(one.title, height / 4, top + height / 2, canvas.width);
    top += height;
    context.drawImage(one.image, 0, top, one.width, one.height);
    top += one.height;
  }
  canvas.toBlob((blob) => {
    if (blob) saveFile(blob, `${name}.png`);
  }, "image/png");
}
