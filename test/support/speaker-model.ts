/**
 * A speaker model of a few hundred bytes, written by hand in ONNX's protocol buffers: the embedding is the mean of
 * the 80 mel bands over time, less the mean over the bands. It tells voices of different colour apart, which is all
 * that a test needs of it.
 */

const varint = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))]

const integer = (field: number, value: number) => [...varint(field << 3), ...varint(value)]
const bytes = (field: number, content: ReadonlyArray<number>) => [
  ...varint((field << 3) | 2),
  ...varint(content.length),
  ...content
]
const text = (field: number, content: string) => bytes(field, [...Buffer.from(content)])

const flag = (name: string, value: number) => bytes(5, [...text(1, name), ...integer(3, value), ...integer(20, 2)])
const list = (name: string, value: number) => bytes(5, [...text(1, name), ...integer(8, value), ...integer(20, 7)])

const node = (operation: string, inputs: ReadonlyArray<string>, output: string, attributes: ReadonlyArray<number>) =>
  bytes(1, [...inputs.flatMap((name) => text(1, name)), ...text(2, output), ...text(4, operation), ...attributes])

/** Of 32-bit floats; a dimension with a name may have any length. */
const tensor = (field: number, name: string, shape: ReadonlyArray<number | string>) => {
  const dimensions = shape.flatMap((size) => bytes(1, typeof size === "number" ? integer(1, size) : text(2, size)))
  return bytes(field, [...text(1, name), ...bytes(2, bytes(1, [...integer(1, 1), ...bytes(2, dimensions)]))])
}

const graph = [
  ...node("ReduceMean", ["x"], "bands", [...list("axes", 1), ...flag("keepdims", 0)]),
  ...node("ReduceMean", ["bands"], "level", [...list("axes", 1), ...flag("keepdims", 1)]),
  ...node("Sub", ["bands", "level"], "embedding", []),
  ...text(2, "speaker"),
  ...tensor(11, "x", ["N", "T", 80]),
  ...tensor(12, "embedding", ["N", 80])
]

const about = {
  framework: "wespeaker",
  language: "English",
  url: "",
  comment: "test",
  sample_rate: "16000",
  output_dim: "80",
  normalize_samples: "1"
}

export const speakerModel = (other: Partial<Record<keyof typeof about, string>> = {}): Uint8Array =>
  Uint8Array.from([
    ...integer(1, 8),
    ...text(2, "test"),
    ...bytes(7, graph),
    ...bytes(8, integer(2, 13)),
    ...Object.entries({ ...about, ...other }).flatMap(([key, value]) => bytes(14, [...text(1, key), ...text(2, value)]))
  ])
