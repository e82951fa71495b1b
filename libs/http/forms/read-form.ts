/**
 * Reads a multipart form as it arrives, no faster than the disk accepts it: memory holds at most a chunk of a file.
 * Every limit applies as its byte comes in. Faults in the shape of parts are reported together; a part that is too
 * large, or a body that is not a form, fails at once. Files are removed with the call's scope.
 */
import { createHash, type Hash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Result, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import type { PerCall } from "../HttpCall.ts"
import {
  badRequest,
  tooMuch,
  payloadTooLarge,
  serviceUnavailable,
  validationFailed,
  type WireError
} from "../WireError.ts"
import { requireMediaType, requireUnpacked } from "../bodies/read-body.ts"
import { formFingerprint, type PartDigest } from "../idempotency/record.ts"
import {
  type Form,
  type FormFile,
  type FormSpec,
  multipartReader,
  type MultipartReader,
  type PartEvent,
  type PartHead,
  partHeaderBytesMax,
  type PartPlan,
  partsMaxDefault,
  planPart
} from "./multipart-reader.ts"
import { type CannotKeepFiles, FormFiles, onDisk } from "./FormFiles.ts"

const mediaType = "multipart/form-data"

/**
 * Fails with 415 for another media type, 413 for a form or part that is too large (`details.part` names the part), 400
 * for a body that is not a form, and 400 `validation_failed` for parts given twice, of the wrong kind, or not UTF-8.
 * Parts that the spec does not name are skipped. The caller checks for missing parts.
 */
export const readForm = (spec: FormSpec): Effect.Effect<Form, WireError, PerCall | FormFiles> =>
  Effect.catchTag(read(spec), "CannotKeepFiles", (error) =>
    Effect.andThen(
      Effect.logError("files of a form cannot be kept", error),
      Effect.fail(serviceUnavailable(5, "files cannot be taken just now"))
    )
  )

const read = Effect.fn("readForm")(function* (spec: FormSpec) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* requireMediaType(mediaType)
  yield* requireUnpacked(spec.bytesMax)
  const partsMax = spec.partsMax ?? partsMaxDefault
  const reader = multipartReader(request.headers["content-type"] ?? "", partsMax)
  if (reader === undefined) return yield* badRequest("the Content-Type has no usable boundary")
  const intake = formIntake(spec)
  const reading: Reading = { reader, intake, bytes: 0, isClosed: false }
  const body = Stream.mapError(request.stream, () => badRequest("the body broke off"))
  yield* Stream.runForEach(body, (chunk) => takeChunk(reading, chunk))
  if (!reading.isClosed) return yield* badRequest("the body broke off before its last boundary")
  return yield* formOf(intake)
})

interface Reading {
  readonly reader: MultipartReader
  readonly intake: FormIntake
  bytes: number
  isClosed: boolean
}

const takeChunk = Effect.fnUntraced(function* (reading: Reading, chunk: Uint8Array) {
  const { reader, intake } = reading
  const { bytesMax, partsMax = partsMaxDefault } = intake.spec
  reading.bytes += chunk.length
  if (reading.bytes > bytesMax) return yield* payloadTooLarge(bytesMax)
  for (const event of reader.read(chunk)) {
    if (event._tag === "Closed") reading.isClosed = true
    yield* follow(event, intake, partsMax)
  }
})

const follow = (event: PartEvent, intake: FormIntake, partsMax: number) => {
  switch (event._tag) {
    case "Began":
      return beginPart(intake, event.head)
    case "Bytes":
      return takeBytes(intake, event.bytes)
    case "Ended":
      return endPart(intake)
    case "Closed":
      return Effect.void
    case "Malformed":
      return Effect.fail(badRequest(`the body is not a form: ${event.reason}`))
    case "TooManyParts":
      return Effect.fail(tooMuch(`the form has more than ${partsMax} parts`, { parts_max: partsMax }))
    case "HeadTooLarge":
      return Effect.fail(
        tooMuch(`the headers of a part are larger than ${partHeaderBytesMax} bytes`, {
          part_header_bytes_max: partHeaderBytesMax
        })
      )
  }
}

interface FormIntake {
  readonly spec: FormSpec
  readonly fields: Map<string, string>
  readonly files: Map<string, FormFile>
  readonly faults: Map<string, string>
  /** None for a part that represents no file. */
  readonly digests: Array<PartDigest | undefined>
  readonly seen: Set<string>
  part: OpenPart | undefined
  folder: string | undefined
}

interface OpenPart {
  readonly head: PartHead
  readonly plan: PartPlan
  readonly hash: Hash
  readonly texts: Array<Uint8Array>
  readonly file: OpenFile | undefined
  bytes: number
}

interface OpenFile {
  readonly path: string
  readonly handle: FileHandle
}

const utf8Strict = new TextDecoder("utf-8", { fatal: true })

const formIntake = (spec: FormSpec): FormIntake => ({
  spec,
  fields: new Map(),
  files: new Map(),
  faults: new Map(),
  digests: [],
  seen: new Set(),
  part: undefined,
  folder: undefined
})

/**
 * Text goes into memory, files to disk, other parts are skipped; each is hashed. A shape fault is recorded, and reading
 * continues.
 */
const beginPart = Effect.fnUntraced(function* (intake: FormIntake, head: PartHead) {
  const plan = planPart(intake.spec, head, intake.seen)
  intake.seen.add(head.name)
  if (plan._tag === "Refused" && !intake.faults.has(head.name)) intake.faults.set(head.name, plan.fault)
  const file = plan._tag === "File" ? yield* newFile(intake) : undefined
  intake.part = { head, plan, hash: createHash("sha256"), texts: [], file, bytes: 0 }
})

const takeBytes = ({ part }: FormIntake, bytes: Uint8Array): Effect.Effect<void, WireError | CannotKeepFiles> => {
  if (part === undefined) return Effect.void
  const { head, plan, file } = part
  part.bytes += bytes.length
  if ("bytesMax" in plan && part.bytes > plan.bytesMax) return Effect.fail(payloadTooLarge(plan.bytesMax, head.name))
  part.hash.update(bytes)
  // A copy: otherwise a few bytes would keep the whole chunk alive.
  if (plan._tag === "Text") part.texts.push(bytes.slice())
  if (file === undefined) return Effect.void
  return onDisk(`write ${file.path}`, () => file.handle.writeFile(bytes))
}

const endPart = Effect.fnUntraced(function* (intake: FormIntake) {
  const { part } = intake
  if (part === undefined) return
  intake.part = undefined
  const { name, fileName, contentType } = part.head
  const { file, bytes } = part
  const sha256 = part.hash.digest("hex")
  // A browser sends an empty file without a name for an input without a chosen file.
  const isNoFile = file !== undefined && fileName === "" && bytes === 0
  intake.digests.push(isNoFile ? undefined : { name, sha256 })
  if (part.plan._tag === "Text") keepText(intake, name, Buffer.concat(part.texts))
  if (file === undefined) return
  yield* onDisk(`close ${file.path}`, () => file.handle.close())
  if (isNoFile) return
  intake.files.set(name, { path: file.path, bytes, sha256, fileName, contentType })
})

/** The form, or all faults of its parts. */
const formOf = ({ fields, files, faults, digests }: FormIntake): Effect.Effect<Form, WireError> => {
  if (faults.size > 0) return Effect.fail(validationFailed(Object.fromEntries(faults)))
  const fingerprint = formFingerprint(digests.filter((digest) => digest !== undefined))
  return Effect.succeed({ fields: Object.fromEntries(fields), files: Object.fromEntries(files), fingerprint })
}

const keepText = ({ fields, faults }: FormIntake, name: string, bytes: Uint8Array) => {
  const decoded = Result.try(() => utf8Strict.decode(bytes))
  if (Result.isSuccess(decoded)) fields.set(name, decoded.success)
  else faults.set(name, "is not UTF-8")
}

// The caller's names never reach the file system.
const newFile = Effect.fnUntraced(function* (intake: FormIntake) {
  const folder = (intake.folder ??= yield* (yield* FormFiles).callFolder)
  return yield* openFile(join(folder, `part-${intake.digests.length}`))
})

// The scope also closes the file if the form breaks off within the part.
const openFile = (path: string) =>
  Effect.acquireRelease(
    Effect.map(
      onDisk(`make ${path}`, () => open(path, "wx", 0o600)),
      (handle): OpenFile => ({ path, handle })
    ),
    ({ handle }) => Effect.ignore(onDisk(`close ${path}`, () => handle.close()))
  )
