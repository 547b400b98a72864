// A table as text that other programs take: Markdown for a page, CSV for a spreadsheet. Pure.

function markdownCell(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replace(/\s+/g, " ").trim();
}

export function tableMarkdown(heads: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(" | ")} |`;
  const rule = `|${heads.map(() => "---").join("|")}|`;
  return `${[line(heads), rule, ...rows.map(line)].join("\n")}\n`;
}

// A spreadsheet takes a cell that begins like this for a formula; an apostrophe makes it text.
const kFormulaStart = /^[=+\-@\t\r]/;

function csvCell(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text);
  const safe = kFormulaStart.test(text) && !isNumber ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function tableCsv(heads: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => cells.map(csvCell).join(",");
  return `${[heads, ...rows].map(line).join("\r\n")}\r\n`;
}
