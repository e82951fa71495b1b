/**
 * Takes the parts of a form one after the other: text into memory, files to disk, the rest past; each held to
 * its limit, and each digested. What is wrong with a part's shape is noted; the reading goes on.
 */
import { createHash, type Hash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Result } from "effect"
import { type Form, type FormFile, type FormSpec, type PartHead, type PartPlan, planPart } from "./form-spec.ts"
import { type CannotKeepFiles, FormFiles, onDisk } from "./FormFiles.ts"
import { formFingerprint, type PartDigest } from "./fingerprints.ts"
import { payloadTooLarge, validationFailed } from "./wire-errors.ts"
import type { WireError } from "./WireError.ts"

export interface FormIntake {
  readonly spec: FormSpec
  readonly fields: Map<string, string>
  readonly files: Map<string, FormFile>
  readonly faults: Map<string, string>
  readonly digests: Array<PartDigest>
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

export const formIntake = (spec: FormSpec): FormIntake => ({
  spec,
  fields: new Map(),
  files: new Map(),
  faults: new Map(),
  digests: [],
  seen: new Set(),
  part: undefined,
  folder: undefined
})

export const beginPart = Effect.fnUntraced(function* (intake: FormIntake, head: PartHead) {
  const plan = planPart(intake.spec, head, intake.seen)
  intake.seen.add(head.name)
  if (plan._tag === "Refused" && !intake.faults.has(head.name)) intake.faults.set(head.name, plan.fault)
  const file = plan._tag === "File" ? yield* newFile(intake) : undefined
  intake.part = { head, plan, hash: createHash("sha256"), texts: [], file, bytes: 0 }
})

export const takeBytes = (
  { part }: FormIntake,
  bytes: Uint8Array
): Effect.Effect<void, WireError | CannotKeepFiles> => {
  if (part === undefined) return Effect.void
  const { head, plan, file } = part
  part.bytes += bytes.length
  if ("bytesMax" in plan && part.bytes > plan.bytesMax) return Effect.fail(payloadTooLarge(plan.bytesMax, head.name))
  part.hash.update(bytes)
  // A copy: a few bytes must not keep the whole chunk that they came in.
  if (plan._tag === "Text") part.texts.push(bytes.slice())
  if (file === undefined) return Effect.void
  return onDisk(`write ${file.path}`, () => file.handle.writeFile(bytes))
}

export const endPart = Effect.fnUntraced(function* (intake: FormIntake) {
  const { part } = intake
  if (part === undefined) return
  intake.part = undefined
  const { name, fileName, contentType } = part.head
  const { file, bytes } = part
  const sha256 = part.hash.digest("hex")
  intake.digests.push({ name, sha256 })
  if (part.plan._tag === "Text") keepText(intake, name, Buffer.concat(part.texts))
  if (file === undefined) return
  yield* onDisk(`close ${file.path}`, () => file.handle.close())
  // An empty file without a name is how a browser sends an input for which none was chosen.
  if (fileName === "" && bytes === 0) return
  intake.files.set(name, { path: file.path, bytes, sha256, fileName, contentType })
})

/** The form, or all that is wrong with its parts. */
export const formOf = ({ fields, files, faults, digests }: FormIntake): Effect.Effect<Form, WireError> => {
  if (faults.size > 0) return Effect.fail(validationFailed(Object.fromEntries(faults)))
  const fingerprint = formFingerprint(digests)
  return Effect.succeed({ fields: Object.fromEntries(fields), files: Object.fromEntries(files), fingerprint })
}

const keepText = ({ fields, faults }: FormIntake, name: string, bytes: Uint8Array) => {
  const decoded = Result.try(() => utf8Strict.decode(bytes))
  if (Result.isSuccess(decoded)) fields.set(name, decoded.success)
  else faults.set(name, "is not UTF-8")
}

// The caller's names stay out of the file system.
const newFile = Effect.fnUntraced(function* (intake: FormIntake) {
  const folder = (intake.folder ??= yield* (yield* FormFiles).callFolder)
  return yield* openFile(join(folder, `part-${intake.digests.length}`))
})

// Closed with the scope too, for a form that does not reach the part's end.
const openFile = (path: string) =>
  Effect.acquireRelease(
    Effect.map(
      onDisk(`make ${path}`, () => open(path, "wx", 0o600)),
      (handle): OpenFile => ({ path, handle })
    ),
    ({ handle }) => Effect.ignore(onDisk(`close ${path}`, () => handle.close()))
  )
