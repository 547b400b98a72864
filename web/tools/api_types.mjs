// Writes generated/openapi.ts: one TypeScript type for each schema of server/api/openapi.json, with
// the schema's own names. Made anew by every type check, so the pages cannot drift from the API.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const source = path.join(web, "../server/api/openapi.json");
const target = path.join(web, "generated/openapi.ts");

const isNullable = (type) => Array.isArray(type) && type.includes("null");

function referenceName(reference) {
  const match = /^#\/components\/schemas\/(\w+)$/.exec(reference);
  if (!match) throw new Error(`openapi.json: '${reference}' is no schema of this document`);
  return match[1];
}

function objectType(schema) {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => `${JSON.stringify(name)}${required.has(name) ? "" : "?"}: ${typeOf(member)};`,
  );
  const { additionalProperties: others } = schema;
  const record = others && `Record<string, ${others === true ? "unknown" : typeOf(others)}>`;
  if (members.length === 0) return record || "Record<string, never>";
  const object = `{ ${members.join(" ")} }`;
  return record ? `${object} & ${record}` : object;
}

function plainType(type, schema) {
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return type;
    case "array":
      return `(${typeOf(schema.items ?? {})})[]`;
    case "object":
      return objectType(schema);
    default:
      throw new Error(`openapi.json: a schema has the type '${type}'`);
  }
}

function typeOf(schema) {
  if (schema.$ref) return referenceName(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) {
    const values = schema.enum.map((value) => JSON.stringify(value));
    if (isNullable(schema.type) && !schema.enum.includes(null)) values.push("null");
    return values.join(" | ");
  }
  if (schema.oneOf) return schema.oneOf.map(typeOf).join(" | ");
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(" & ");
  if (schema.type === undefined) return schema.properties ? objectType(schema) : "unknown";
  return [schema.type]
    .flat()
    .map((type) => plainType(type, schema))
    .join(" | ");
}

const document = JSON.parse(await readFile(source, "utf8"));
const types = Object.entries(document.components.schemas).map(
  ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
);
await mkdir(path.dirname(target), { recursive: true });
await writeFile(
  target,
  `// Generated from server/api/openapi.json by web/tools/api_types.mjs. Not to be edited.\n\n` +
    types.join("\n"),
);
