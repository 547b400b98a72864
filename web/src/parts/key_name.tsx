// A key of a configuration: its words, or as code the name that somebody sets it by.
import { formatKey, writtenName } from "../format";

export function KeyName({ name }: { name: string }) {
  return writtenName(name) === null ? <>{formatKey(name)}</> : <code>{formatKey(name)}</code>;
}
