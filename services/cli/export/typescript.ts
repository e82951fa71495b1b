/** Event types as TypeScript. Pure. */
import type { ExportedType } from "./exported-type.ts"
import { inOneLine, newNames } from "./names.ts"
import { type Shape, shapeOf } from "./shape.ts"

export const typeScriptOf = (types: ReadonlyArray<ExportedType>): string => {
  const names = newNames()
  const declared = types.map(({ event, firedWhen, details }) => {
    const name = names.of(event)
    const of = `${name}Details`
    const comment = firedWhen === "" ? "" : `/** ${inOneLine(firedWhen)} */\n`
    return {
      name,
      text: `export type ${names.of(of)} = ${typeOf(shapeOf(details), "")}\n\n${comment}export type ${name} = Envelope<${JSON.stringify(event)}, ${of}>\n`
    }
  })
  const union = declared.length === 0 ? "never" : declared.map(({ name }) => `\n  | ${name}`).join("")
  return [
    head,
    ...declared.map(({ text }) => text),
    `export type Event =${union.startsWith("\n") ? union : ` ${union}`}\n`
  ].join("\n")
}

const head = `/** Your event types, as receivers get them. Made by \`starling types export\`. */

/** Further fields may come. */
export interface Envelope<Name extends string, Details> {
  readonly eventSchemaVersion: string
  readonly event: Name
  readonly occurredAt: string
  readonly details: Details
}
`

const typeOf = (shape: Shape, indent: string): string => {
  switch (shape.kind) {
    case "integer":
      return "number"
    case "literal":
      return JSON.stringify(shape.value)
    case "list":
      return `ReadonlyArray<${typeOf(shape.of, indent)}>`
    case "record":
      return `Readonly<Record<string, ${typeOf(shape.of, indent)}>>`
    case "union":
      return shape.of.map((each) => typeOf(each, indent)).join(" | ")
    case "object": {
      const within = `${indent}  `
      const fields = shape.fields.map(({ name, shape: inner, isRequired, description }) => {
        const comment = description === undefined ? "" : `${within}/** ${inOneLine(description)} */\n`
        return `${comment}${within}readonly ${JSON.stringify(name)}${isRequired ? "" : "?"}: ${typeOf(inner, within)}\n`
      })
      return `{\n${fields.join("")}${indent}}`
    }
    default:
      return shape.kind
  }
}
