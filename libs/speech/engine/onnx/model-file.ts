/**
 * An ONNX model as a file: a protobuf message, of which this reads names and writes additions. Two properties of
 * protobuf make additions cheap. An entry of a repeated field can be at the end of the file; and a second `graph` at
 * the end is merged into the first, so that a value within the graph becomes an output. Pure.
 */

/** The field numbers in onnx.proto. */
const fields = { graph: 7, metadata: 14, node: 1, nodeInput: 1, nodeOutput: 2, operator: 4, graphInput: 11, output: 12 }
const [nameField, keyField, valueField] = [1, 1, 2]
const lengthDelimited = 2

interface Field {
  readonly number: number
  /** Empty for numbers, which are not needed here. */
  readonly bytes: Uint8Array
}

/** The fields of a message, each without a copy. Ends early at anything that is not a message. */
function* fieldsOf(message: Uint8Array): Generator<Field> {
  let at = 0
  const varint = () => {
    let [value, factor] = [0, 1]
    while (at < message.length) {
      const byte = message[at++] ?? 0
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    return value
  }
  while (at < message.length) {
    const tag = varint()
    const [number, type] = [Math.floor(tag / 8), tag % 8]
    if (number === 0) return
    if (type === lengthDelimited) {
      const length = varint()
      if (at + length > message.length) return
      yield { number, bytes: message.subarray(at, at + length) }
      at += length
    } else if (type === 0) {
      varint()
      yield { number, bytes: message.subarray(at, at) }
    } else if (type === 1) at += 8
    else if (type === 5) at += 4
    else return
  }
}

const utf8 = new TextDecoder()
const textIn = (message: Uint8Array, number: number) => {
  for (const field of fieldsOf(message)) if (field.number === number) return utf8.decode(field.bytes)
  return ""
}

interface Node {
  readonly operator: string
  readonly input: string
  readonly output: string
}

export interface ModelContents {
  readonly inputs: ReadonlyArray<string>
  readonly metadata: ReadonlyMap<string, string>
  /**
   * The value that holds how many frames each symbol lasts, by its position in the graph; undefined if there is none.
   */
  readonly durations: string | undefined
}

/** Undefined for a file that is not a model. */
export const contentsOf = (model: Uint8Array): ModelContents | undefined => {
  const metadata = new Map<string, string>()
  const inputs: Array<string> = []
  const rounded = new Set<string>()
  let durations: string | undefined
  let hasGraph = false
  for (const { number, bytes } of fieldsOf(model)) {
    if (number === fields.metadata) metadata.set(textIn(bytes, keyField), textIn(bytes, valueField))
    if (number !== fields.graph) continue
    hasGraph = true
    for (const part of fieldsOf(bytes)) {
      if (part.number === fields.graphInput) inputs.push(textIn(part.bytes, nameField))
      if (part.number !== fields.node) continue
      const node = nodeOf(part.bytes)
      // Predicted lengths are rounded to whole frames, and no symbol lasts less than one.
      if (node.operator === "Round") rounded.add(node.output)
      if (node.operator === "Clip" && rounded.has(node.input)) durations ??= node.output
    }
  }
  return hasGraph && inputs.length > 0 ? { inputs, metadata, durations } : undefined
}

const nodeOf = (bytes: Uint8Array): Node => ({
  operator: textIn(bytes, fields.operator),
  input: textIn(bytes, fields.nodeInput),
  output: textIn(bytes, fields.nodeOutput)
})

const encoder = new TextEncoder()

const varintOf = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value % 128) + 128, ...varintOf(Math.floor(value / 128))]

const field = (number: number, bytes: Uint8Array) =>
  Uint8Array.from([...varintOf(number * 8 + lengthDelimited), ...varintOf(bytes.length), ...bytes])

/** The bytes that, appended to a model, make a value of its graph an output. */
export const outputBytes = (name: string): Uint8Array =>
  field(fields.graph, field(fields.output, field(nameField, encoder.encode(name))))

/** The bytes that, appended to a model, add metadata. */
export const metadataBytes = (metadata: Readonly<Record<string, string>>): Uint8Array =>
  Uint8Array.from(
    Object.entries(metadata).flatMap(([key, value]) => {
      const entry = [...field(keyField, encoder.encode(key)), ...field(valueField, encoder.encode(value))]
      return [...field(fields.metadata, Uint8Array.from(entry))]
    })
  )
