/**
 * A reporter for vitest that writes the failures, as JSON, to the file that STARLING_FAILURES names: tests, suites
 * whose hooks failed, files that did not load, and errors that no test awaited, which no count of tests shows.
 */
import { writeFileSync } from "node:fs"
import { relative } from "node:path"
import type { Reporter, TestModule, TestSuite } from "vitest/node"
import type { Failure } from "./closing-lines.ts"

type Thrown = Parameters<NonNullable<Reporter["onTestRunEnd"]>>[1][number]

const pathOf = (file: string) => relative(process.cwd(), file)

/** A raw frame of a stack, as in errors that no test awaited. */
const writtenFrame = /(?<![^\s()])(?:file:\/\/)?([^\s()]+):(\d+):\d+/u

/** The nearest frame of our own code: an assertion's own frames say nothing. */
const whereOf = ({ stack = "", stacks = [] }: Thrown) => {
  const written = stack.split("\n").flatMap((line) => {
    const [, file, at] = writtenFrame.exec(line) ?? []
    return file === undefined ? [] : [{ file, line: Number(at) }]
  })
  const isOurs = ({ file }: { readonly file: string }) => !file.includes("node_modules") && !file.startsWith("node:")
  const frame = stacks.find(isOurs) ?? written.find(isOurs)
  return frame === undefined ? null : `${pathOf(frame.file.replace(/^file:\/\//u, ""))}:${frame.line}`
}

const failureOf = (ring: string, file: string | null, name: string, thrown: Thrown | undefined): Failure => ({
  ring,
  file,
  name,
  message: thrown === undefined ? "" : [thrown.name, thrown.message].filter(Boolean).join(": "),
  where: thrown === undefined ? null : whereOf(thrown)
})

const failuresOf = (module: TestModule): ReadonlyArray<Failure> => {
  const ring = module.project.name
  const file = pathOf(module.moduleId)
  const failed = (name: string, thrown: Thrown | undefined) => failureOf(ring, file, name, thrown)
  const ofSuite = (suite: TestSuite) => suite.errors().map((thrown) => failed(`${suite.fullName} (a hook)`, thrown))
  return [
    ...module.errors().map((thrown) => failed("did not run", thrown)),
    ...[...module.children.allSuites()].flatMap(ofSuite),
    ...[...module.children.allTests("failed")].map((test) => failed(test.fullName, test.result().errors?.[0]))
  ]
}

export default class ReportFailures implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<Thrown>) {
    const path = process.env["STARLING_FAILURES"]
    if (path === undefined) return
    const ring = modules[0]?.project.name ?? "tests"
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map((thrown) => failureOf(ring, null, "an error that no test waited for", thrown))
    ]
    writeFileSync(path, JSON.stringify(failures))
  }
}
