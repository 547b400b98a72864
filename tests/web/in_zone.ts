// Runs a check where the reader's own time zone is another one.
export function inZone(name: string, check: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = name;
  try {
    check();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}
