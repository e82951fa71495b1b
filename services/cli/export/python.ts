/** Event types as Python, from 3.11 on. Pure. */
import type { ExportedType } from "./exported-type.ts"
import { inOneLine, type Names, newNames } from "./names.ts"
import { type Shape, shapeOf } from "./shape.ts"

export const pythonOf = (types: ReadonlyArray<ExportedType>): string => {
  const names = newNames()
  const lines: Array<string> = []
  const events = types.map(({ event, firedWhen, details }) => {
    const name = names.of(event)
    const of = typeOf(shapeOf(details), [`${name}Details`], { names, lines })
    const about = firedWhen === "" ? [] : [`# ${inOneLine(firedWhen)}`]
    const fields = [`"eventSchemaVersion": str`, `"event": Literal[${JSON.stringify(event)}]`, `"occurredAt": str`]
    lines.push(...about, ...typedDict(name, [...fields, `"details": ${of}`]))
    return name
  })
  lines.push(`Event = ${events.length === 0 ? "None" : `Union[${events.join(", ")}]`}`)
  return `${[...head, ...lines].join("\n")}\n`
}

const head = [
  '"""Your event types, as receivers get them; further fields may come. Made by `starling types export`."""',
  "",
  "from typing import Any, Literal, NotRequired, TypedDict, Union",
  ""
]

const typedDict = (name: string, fields: ReadonlyArray<string>) => [
  `${name} = TypedDict("${name}", {`,
  ...fields.map((field) => `    ${field},`),
  "})",
  ""
]

interface Written {
  readonly names: Names
  readonly lines: Array<string>
}

/** The expression of a type. An object is written before it, under a name of these words. */
const typeOf = (shape: Shape, words: ReadonlyArray<string>, written: Written): string => {
  switch (shape.kind) {
    case "unknown":
      return "Any"
    case "string":
      return "str"
    case "number":
      return "float"
    case "integer":
      return "int"
    case "boolean":
      return "bool"
    case "null":
      return "None"
    case "literal":
      return `Literal[${typeof shape.value === "boolean" ? (shape.value ? "True" : "False") : JSON.stringify(shape.value)}]`
    case "list":
      return `list[${typeOf(shape.of, [...words, "Item"], written)}]`
    case "record":
      return `dict[str, ${typeOf(shape.of, [...words, "Value"], written)}]`
    case "union":
      return `Union[${shape.of.map((each) => typeOf(each, words, written)).join(", ")}]`
    case "object": {
      const fields = shape.fields.flatMap(({ name, shape: inner, isRequired, description }) => {
        const type = typeOf(inner, [...words, name], written)
        const field = `${JSON.stringify(name)}: ${isRequired ? type : `NotRequired[${type}]`}`
        return description === undefined ? [field] : [`# ${inOneLine(description)}\n    ${field}`]
      })
      const name = written.names.of(...words)
      written.lines.push(...typedDict(name, fields))
      return name
    }
  }
}
