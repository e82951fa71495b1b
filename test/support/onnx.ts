/** ONNX models of a few kilobytes, written byte by byte: real models to a real runtime, small enough for a test. */

type Bytes = ReadonlyArray<number>

const varint = (value: number): Bytes => {
  const bytes: Array<number> = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return bytes
}
const number = (field: number, value: number): Bytes => [...varint(field * 8), ...varint(value)]
const bytes = (field: number, value: Bytes): Bytes => [...varint(field * 8 + 2), ...varint(value.length), ...value]
const text = (field: number, value: string): Bytes => bytes(field, [...new TextEncoder().encode(value)])

const elementTypes = { float: 1, int64: 7 }
export type ElementType = keyof typeof elementTypes
export type Dimension = number | string

/** A value with a name: a model's input or output. */
export const value = (name: string, type: ElementType, shape: ReadonlyArray<Dimension>): Bytes => {
  const dimensions = shape.flatMap((size) => bytes(1, typeof size === "number" ? number(1, size) : text(2, size)))
  const tensor = [...number(1, elementTypes[type]), ...bytes(2, dimensions)]
  return [...text(1, name), ...bytes(2, bytes(1, tensor))]
}

export const constant = (
  name: string,
  type: ElementType,
  shape: ReadonlyArray<number>,
  values: ReadonlyArray<number>
): Bytes => {
  const raw =
    type === "float" ? new Uint8Array(Float32Array.from(values).buffer) : new BigInt64Array(values.map(BigInt)).buffer
  return [
    ...shape.flatMap((size) => number(1, size)),
    ...number(2, elementTypes[type]),
    ...text(8, name),
    ...bytes(9, [...new Uint8Array(raw)])
  ]
}

/** One step of the computation; attributes are whole numbers, or lists of them. */
export const node = (
  operator: string,
  inputs: ReadonlyArray<string>,
  outputs: ReadonlyArray<string>,
  attributes: Readonly<Record<string, number | ReadonlyArray<number>>> = {}
): Bytes => [
  ...inputs.flatMap((input) => text(1, input)),
  ...outputs.flatMap((output) => text(2, output)),
  ...text(4, operator),
  ...Object.entries(attributes).flatMap(([name, given]) =>
    bytes(
      5,
      typeof given === "number"
        ? [...text(1, name), ...number(3, given), ...number(20, 2)]
        : [...text(1, name), ...given.flatMap((one) => number(8, one)), ...number(20, 7)]
    )
  )
]

export interface Model {
  readonly inputs: ReadonlyArray<Bytes>
  readonly outputs: ReadonlyArray<Bytes>
  readonly constants: ReadonlyArray<Bytes>
  readonly nodes: ReadonlyArray<Bytes>
  readonly metadata: Readonly<Record<string, string>>
}

export const onnxModel = ({ inputs, outputs, constants, nodes, metadata }: Model): Uint8Array => {
  const graph = [
    ...nodes.flatMap((one) => bytes(1, one)),
    ...text(2, "tiny"),
    ...constants.flatMap((one) => bytes(5, one)),
    ...inputs.flatMap((one) => bytes(11, one)),
    ...outputs.flatMap((one) => bytes(12, one))
  ]
  const properties = Object.entries(metadata).flatMap(([key, given]) => bytes(14, [...text(1, key), ...text(2, given)]))
  const operators = bytes(8, [...text(1, ""), ...number(2, 13)])
  return Uint8Array.from([...number(1, 8), ...bytes(7, graph), ...operators, ...properties])
}
