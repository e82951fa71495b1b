/**
 * ONNX Runtime, called synchronously from an engine's thread: the library that ships with sherpa-onnx, through its C
 * API. It gives what sherpa-onnx does not expose, such as how long each phoneme lasts. The C API is a table of
 * functions whose positions never change; `calls` names those that are used here.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import koffi from "koffi"
import { loadLibrary, newCString } from "../worker/library.ts"
import type { NativeCall } from "../worker/protocol.ts"
import { MissingPart } from "../worker/serve.ts"
import { onnxRuntimeFile } from "./runtime-file.ts"

export interface Tensor {
  readonly data: Float32Array | BigInt64Array
  readonly shape: ReadonlyArray<number>
}

export interface OnnxModel {
  /**
   * `use` gets the named outputs, all of them 32-bit numbers, which are valid only during its call. It is not called if
   * the job is cancelled.
   */
  readonly run: (
    inputs: Readonly<Record<string, Tensor>>,
    outputs: ReadonlyArray<string>,
    use: (outputs: ReadonlyArray<Float32Array>) => void
  ) => void
  readonly inputs: ReadonlyArray<string>
  /** Ends a run after its current operation. */
  readonly stop: NativeCall
}

/**
 * The functions' positions in the table, and their declarations; all but the last group return a status, null for none.
 */
const calls = {
  GetErrorMessage: [2, "const char *F(void *)"],
  CreateEnv: [3, "void *F(int, const char *, _Out_ void **)"],
  CreateSessionFromArray: [8, "void *F(void *, const void *, size_t, void *, _Out_ void **)"],
  Run: [9, "void *F(void *, void *, const void *, const void *, size_t, const void *, size_t, void *)"],
  CreateSessionOptions: [10, "void *F(_Out_ void **)"],
  DisableMemPattern: [17, "void *F(void *)"],
  DisableCpuMemArena: [19, "void *F(void *)"],
  SetIntraOpNumThreads: [24, "void *F(void *, int)"],
  SetInterOpNumThreads: [25, "void *F(void *, int)"],
  SessionGetInputCount: [30, "void *F(void *, _Out_ size_t *)"],
  SessionGetInputName: [36, "void *F(void *, size_t, void *, _Out_ void **)"],
  CreateRunOptions: [39, "void *F(_Out_ void **)"],
  RunOptionsUnsetTerminate: [47, "void *F(void *)"],
  CreateTensorWithDataAsOrtValue: [49, "void *F(void *, void *, size_t, const int64_t *, size_t, int, _Out_ void **)"],
  GetTensorMutableData: [51, "void *F(void *, _Out_ void **)"],
  GetTensorShapeElementCount: [64, "void *F(void *, _Out_ size_t *)"],
  GetTensorTypeAndShape: [65, "void *F(void *, _Out_ void **)"],
  CreateCpuMemoryInfo: [69, "void *F(int, int, _Out_ void **)"],
  GetAllocatorWithDefaultOptions: [78, "void *F(_Out_ void **)"],
  ReleaseStatus: [93, "void F(void *)"],
  ReleaseValue: [96, "void F(void *)"],
  ReleaseTensorTypeAndShapeInfo: [99, "void F(void *)"]
} as const satisfies Readonly<Record<string, readonly [place: number, declaration: string]>>

type Call = keyof typeof calls
// RunOptionsSetTerminate, the only one that another thread calls.
const terminatePlace = 46
// The first version of the table has everything that is called here.
const apiVersion = 1
const pointerBytes = 8
const warnings = 3
// The name of one value.
const tailBytesMax = 4_096
const [deviceAllocator, defaultMemory] = [0, 0]
const elementTypes = { float: 1, int64: 7 }

const openApi = () => {
  const file = onnxRuntimeFile()
  if (file === undefined) throw new MissingPart("npm's sherpa-onnx-node is not installed for this machine")
  const library = loadLibrary(file)
  const base = library.func("void *OrtGetApiBase()")() as bigint
  const pointerAt = (table: bigint, place: number) =>
    koffi.decode(table + BigInt(place * pointerBytes), "void *") as bigint
  const getApi = koffi.decode(pointerAt(base, 0), koffi.proto("void *StarlingOrtGetApi(uint32_t)"))
  const table = getApi(apiVersion) as bigint
  const functions = Object.entries(calls).map(([name, [place, declaration]]) => {
    const type = koffi.proto(declaration.replace(/\bF\(/u, `StarlingOrt${name}(`))
    return [name, koffi.decode(pointerAt(table, place), type)]
  })
  const api = Object.fromEntries(functions) as Record<Call, (...given: ReadonlyArray<unknown>) => unknown>
  return { api, terminate: pointerAt(table, terminatePlace) }
}

/** One per thread, opened by its first model. */
let opened: ReturnType<typeof openRuntime> | undefined

const openRuntime = () => {
  const { api, terminate } = openApi()
  const checked = (name: Call, ...given: ReadonlyArray<unknown>) => {
    const status = api[name](...given)
    if (status === null) return
    const message = String(api.GetErrorMessage(status))
    api.ReleaseStatus(status)
    throw new Error(`ONNX Runtime: ${message.slice(0, 300)}`)
  }
  /** Calls a function whose last argument receives its result. */
  const made = (name: Call, ...given: ReadonlyArray<unknown>) => {
    const out: [unknown] = [null]
    checked(name, ...given, out)
    return out[0]
  }
  const memory = made("CreateCpuMemoryInfo", deviceAllocator, defaultMemory)
  const valueOf = ({ data, shape }: Tensor) => {
    const type = data instanceof Float32Array ? elementTypes.float : elementTypes.int64
    const sizes = BigInt64Array.from(shape, BigInt)
    return made("CreateTensorWithDataAsOrtValue", memory, data, data.byteLength, sizes, sizes.length, type)
  }
  const read = (value: unknown) => {
    const shape = made("GetTensorTypeAndShape", value)
    const length = Number(made("GetTensorShapeElementCount", shape))
    api.ReleaseTensorTypeAndShapeInfo(shape)
    const data = made("GetTensorMutableData", value)
    return length === 0 ? new Float32Array(0) : new Float32Array(koffi.view(data as bigint, length * 4))
  }
  return {
    api,
    terminate,
    checked,
    made,
    environment: made("CreateEnv", warnings, "starling"),
    allocator: made("GetAllocatorWithDefaultOptions"),
    valueOf,
    read
  }
}

interface ModelSource {
  readonly file: string
  /** What to append to the file's own bytes. */
  readonly tail: (model: Uint8Array) => Uint8Array
  readonly threads: number
  /** Whether nobody waits for the current job any more. */
  readonly isCancelled: () => boolean
}

export const openOnnxModel = ({ file, tail, threads, isCancelled }: ModelSource): OnnxModel => {
  opened ??= openRuntime()
  const { api, checked, made, environment, allocator, terminate, valueOf, read } = opened
  const options = made("CreateSessionOptions")
  checked("SetIntraOpNumThreads", options, threads)
  checked("SetInterOpNumThreads", options, 1)
  // Texts differ in length, so patterns and arenas only keep memory that is not needed again.
  checked("DisableMemPattern", options)
  checked("DisableCpuMemArena", options)
  const session = withBytes({ file, tail }, (pointer, length) =>
    made("CreateSessionFromArray", environment, pointer, length, options)
  )
  const runOptions = made("CreateRunOptions") as bigint
  const count = Number(made("SessionGetInputCount", session))
  const names = Array.from({ length: count }, (_, at) =>
    String(koffi.decode(made("SessionGetInputName", session, at, allocator), "char", -1))
  )
  const strings = new Map<string, bigint>()
  const stringOf = (name: string) => {
    const known = strings.get(name) ?? newCString(name)
    strings.set(name, known)
    return known
  }
  const pointers = (all: ReadonlyArray<unknown>) => BigInt64Array.from(all.map((one) => BigInt(one as bigint)))

  return {
    inputs: names,
    stop: { function: terminate, argument: runOptions },
    run: (inputs, outputs, use) => {
      checked("RunOptionsUnsetTerminate", runOptions)
      // A job is cancelled before its run is stopped: either is noticed, whatever came first.
      if (isCancelled()) return
      const given = Object.entries(inputs)
      // The library reads the inputs in place: memory of the C side does not move.
      const copied = given.map(([, tensor]) => outside(tensor))
      const values = copied.map(({ tensor }) => valueOf(tensor))
      const results = new BigInt64Array(outputs.length)
      try {
        const [inputNames, outputNames] = [given.map(([name]) => stringOf(name)), outputs.map(stringOf)]
        checked(
          "Run",
          session,
          runOptions,
          pointers(inputNames),
          pointers(values),
          values.length,
          pointers(outputNames),
          outputs.length,
          results
        )
        use([...results].map(read))
      } catch (error) {
        if (!isCancelled()) throw error
      } finally {
        for (const value of [...values, ...results]) if (value !== 0n) api.ReleaseValue(value)
        for (const { free } of copied) free()
      }
    }
  }
}

/** A file in memory that is freed as soon as it is used: the session keeps a copy, and a collection may be far off. */
const withBytes = <A>(
  { file, tail }: Pick<ModelSource, "file" | "tail">,
  use: (pointer: bigint, length: number) => A
): A => {
  const { size } = statSync(file)
  const pointer = koffi.alloc("char", size + tailBytesMax)
  const descriptor = openSync(file, "r")
  try {
    const bytes = new Uint8Array(koffi.view(pointer, size + tailBytesMax))
    let at = 0
    for (let read = 1; at < size && read > 0; at += read) read = readSync(descriptor, bytes, at, size - at, at)
    const more = tail(bytes.subarray(0, at))
    bytes.set(more, at)
    return use(pointer, at + more.length)
  } finally {
    closeSync(descriptor)
    koffi.free(pointer)
  }
}

/** A tensor in memory of the C side. Short typed arrays are on V8's heap, and move. */
const outside = ({ data, shape }: Tensor) => {
  const pointer = koffi.alloc("char", Math.max(1, data.byteLength))
  const view = koffi.view(pointer, Math.max(1, data.byteLength))
  const copy =
    data instanceof Float32Array ? new Float32Array(view, 0, data.length) : new BigInt64Array(view, 0, data.length)
  copy.set(data as never)
  return { tensor: { data: copy, shape }, free: () => koffi.free(pointer) }
}
