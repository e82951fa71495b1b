import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parseAllDocuments } from "yaml"
import { repository } from "./tools.ts"

const read = (file: string) => readFileSync(join(repository, file), "utf8")
const filesOf = (...patterns: ReadonlyArray<string>) => globSync([...patterns], { cwd: repository }).toSorted()

const dockerfiles = filesOf("deploy/**/Dockerfile", "dev/**/Dockerfile", "test/**/Dockerfile")

/** The images that a Dockerfile takes from elsewhere: bases, frontends, and what it copies from. */
const imagesOfDockerfile = (text: string): ReadonlyArray<string> => {
  const syntax = [...text.matchAll(/^#\s*syntax\s*=\s*(\S+)/gmu)].map(([, name = ""]) => name)
  const args = new Map([...text.matchAll(/^ARG (\w+)=(\S+)/gmu)].map(([, name = "", value = ""]) => [name, value]))
  const stages = [...text.matchAll(/^FROM .* AS (\S+)/gimu)].map(([, name = ""]) => name)
  const named = [...text.matchAll(/^FROM (?:--\S+ )*(\S+)|--from=(\S+)/gimu)].map(
    ([, base, from]) => base ?? from ?? ""
  )
  const given = named.map((name) => name.replace(/^\$\{(\w+)\}$/u, (_, arg: string) => args.get(arg) ?? ""))
  return [...syntax, ...given.filter((name) => name !== "scratch" && !stages.includes(name))]
}

/** Those of manifests, of Compose, of kustomizations and of the values of charts. */
const imagesOfYaml = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const look = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(look)
    if (typeof node !== "object" || node === null) return
    const { image, images, ...rest } = node as Readonly<Record<string, unknown>>
    if (typeof image === "string") found.push(image)
    else if (typeof image === "object" && image !== null) {
      const { repository: name, tag = "", digest } = image as Readonly<Record<string, string>>
      found.push(`${name}:${tag}${digest === undefined ? "" : `@${digest}`}`)
    }
    if (Array.isArray(images)) {
      for (const { name, newName = name, newTag = "", digest } of images as ReadonlyArray<Record<string, string>>) {
        found.push(`${newName}:${newTag}${digest === undefined ? "" : `@${digest}`}`)
      }
    }
    Object.values(rest).forEach(look)
  }
  for (const document of parseAllDocuments(text, { merge: true })) look(document.toJS())
  return found
}

/** Those that code names: what it runs, and what it writes into manifests. */
const imagesOfCode = (text: string): ReadonlyArray<string> => [
  ...[...text.matchAll(/GenericContainer\(\s*["'`]([^"'`]+)["'`]/gu)].map(([, name = ""]) => name),
  ...[...text.matchAll(/\bimage: ["'`]([\w./-]+:[\w.@:-]+)["'`]/gu)].map(([, name = ""]) => name),
  ...[...text.matchAll(/repository: "([^"]+)", tag: "([^"]+)"/gu)].map(([, name, tag]) => `${name}:${tag}`)
]

const named = [
  ...dockerfiles.flatMap((file) => imagesOfDockerfile(read(file)).map((image) => ({ file, image }))),
  ...filesOf("deploy/**/*.{yaml,yml}").flatMap((file) => imagesOfYaml(read(file)).map((image) => ({ file, image }))),
  ...filesOf("deploy/generate/*.ts", "test/containers/*.ts", "test/kubernetes/**/*.ts", "dev/**/*.ts").flatMap((file) =>
    imagesOfCode(read(file)).map((image) => ({ file, image }))
  )
]

const isByDigest = (image: string) => /^[^@\s]+:[\w.-]+@sha256:[0-9a-f]{64}$/u.test(image)

// The broker's are named by their whole version. Their digests are to be added by somebody who can ask the registry.
const unasked = "no registry could be asked for its digest"
const byTag: Readonly<Record<string, string>> = {
  "nats:2.15.1": unasked,
  "nats:2.15.1-alpine": unasked
}
// Whoever builds them, or takes them into a registry of their own, has their digests.
const isOwn = (image: string) => /^(?:registry\.example\/)?starling-(?:fleet|speech)\b/u.test(image)

describe("every image of others", () => {
  it("is named by its digest beside its tag, except listed ones", () => {
    const others = named.filter(({ image }) => !isOwn(image))
    assert.isAbove(others.length, 3)
    const refused = others.filter(({ image }) => !isByDigest(image) && byTag[image] === undefined)
    assert.deepStrictEqual(refused, [])
    const used = new Set(others.map(({ image }) => image))
    assert.deepStrictEqual(
      Object.keys(byTag).filter((image) => !used.has(image)),
      [],
      "are listed, and named nowhere"
    )
  })

  it("is found wherever it is named", () => {
    const digest = `sha256:${"0".repeat(64)}`
    const dockerfile = [
      "# syntax=docker/dockerfile:1",
      "ARG BASE=debian:12",
      "FROM ${BASE} AS one",
      `FROM --platform=linux/amd64 node:24@${digest} AS two`,
      "COPY --from=one /a /a",
      "COPY --from=busybox:1 /b /b",
      "FROM scratch"
    ].join("\n")
    assert.deepStrictEqual(imagesOfDockerfile(dockerfile), [
      "docker/dockerfile:1",
      "debian:12",
      `node:24@${digest}`,
      "busybox:1"
    ])
    const yaml = [
      "a: { image: redis:8 }",
      "---",
      "images: [{ name: x, newName: y, newTag: '1' }]",
      "container: { image: { repository: nats, tag: '2' } }"
    ].join("\n")
    assert.sameMembers([...imagesOfYaml(yaml)], ["redis:8", "y:1", "nats:2"])
    const code = 'new GenericContainer("redis:8"); const a = { image: "nats:2" }; x({ repository: "b", tag: "3" })'
    assert.deepStrictEqual(imagesOfCode(code), ["redis:8", "nats:2", "b:3"])
    assert.deepStrictEqual(["a:1", `a@${digest}`, `a:1@${digest}`, `a:1@${digest}0`].map(isByDigest), [
      false,
      false,
      true,
      false
    ])
  })

  it("has its digest on the label of what is built on it", () => {
    const text = read("deploy/docker/Dockerfile")
    const [, name, digest] = /^ARG NODE_IMAGE=(\S+)@(\S+)$/mu.exec(text) ?? assert.fail("no base")
    assert.include(text, `image.base.name="docker.io/library/${name}"`)
    assert.include(text, `image.base.digest="${digest}"`)
  })
})

/** The commands of a Dockerfile's RUN lines, each as one line, without what is quoted. */
const runsOf = (text: string): ReadonlyArray<string> =>
  [...text.replaceAll(/\\\n/gu, " ").matchAll(/^RUN (.*)$/gmu)].map(([, command = ""]) =>
    command.replaceAll(/'[^']*'|"[^"]*"/gu, '""')
  )

/** What in a command lets a build go on after a failure: another way instead, or a next command whatever happened. */
const hidesFailure = (command: string): boolean => {
  const plain = command.replaceAll("|| exit 1;", " ").replaceAll(/\bfor [^;]+; do|\bdone\b/gu, " ")
  return /\|\||;|\bset \+e\b|(?:^|[^&>])&(?![&>\d])/u.test(plain)
}

describe("a step of an image's build", () => {
  it.each(dockerfiles)("that fails ends the build, in %s", (file) => {
    const runs = runsOf(read(file))
    assert.isNotEmpty(runs)
    assert.deepStrictEqual(runs.filter(hidesFailure), [])
  })

  it.each([
    ["apt-get install -y a || true", true],
    ["apt-get install -y a || :", true],
    ["apt-get install -y a || echo 'left out: a'", true],
    ["{ apt-get install -y a; } >/dev/null 2>&1 && b", true],
    ["apt-get install -y a; rm -rf /var/lib/apt", true],
    ["set +e && apt-get install -y a", true],
    ["apt-get install -y a & wait", true],
    ["apt-get update -qq && apt-get install -y a >/dev/null 2>&1 && rm -rf /x", false],
    ["for a in b c; do test $a || exit 1; done && d", false]
  ])("is told from one that may fail: %s", (command, isHidden) => {
    assert.strictEqual(hidesFailure(runsOf(`RUN ${command}`)[0] ?? ""), isHidden)
  })
})
