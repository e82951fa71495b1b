import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { assert, describe, it, onTestFinished } from "@effect/vitest"
import { standardWebhooksHeaders, standardWebhooksKey } from "#webhooks"
import { verify } from "../../../libs/webhooks/contract/signature.ts"
import { verifyingFiles } from "../../../services/cli/documents.ts"

interface Delivered {
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly nowSeconds: number
}

const sentAt = 1_790_000_000
const secret = "a secret of ümlauts"
const keyBytes = Buffer.from("0123456789abcdef0123456789abcdef")
/** Signed by what a careless decoder makes of it: who takes these takes forgeries. */
const signedBy = (secret: string, key: Uint8Array): Delivered => ({
  ...sent([secret]),
  headers: standardWebhooksHeaders([key], {
    deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
    attemptAtMs: sentAt * 1_000 + 400,
    body
  })
})
const empty = new Uint8Array(0)
const encodedKey = keyBytes.toString("base64")
const short = keyBytes.subarray(0, 23)
const long = Buffer.concat([keyBytes, keyBytes, keyBytes.subarray(0, 1)])
const noKeys: ReadonlyArray<readonly [what: string, secret: string, key: Uint8Array]> = [
  ["an empty secret", "", empty],
  ["whsec_ alone", "whsec_", empty],
  ["whsec_ without base64", "whsec_!!!", empty],
  ["whsec_ without base64, as text", "whsec_!!!", Buffer.from("whsec_!!!")],
  ["whsec_ with padding alone", "whsec_====", empty],
  ["whsec_ and 23 bytes", `whsec_${short.toString("base64")}`, short],
  ["whsec_ and 65 bytes", `whsec_${long.toString("base64")}`, long],
  ["base64 without its padding", `whsec_${encodedKey.replace("=", "")}`, keyBytes],
  ["base64 of URLs", `whsec_${"-_".repeat(16)}`, Buffer.from("-_".repeat(16), "base64url")],
  ["base64 with a line break at its end", `whsec_${encodedKey}\n`, keyBytes],
  ["base64 with a space", `whsec_${encodedKey.slice(0, 8)} ${encodedKey.slice(8)}`, keyBytes],
  ["the prefix of a signature", `v1,whsec_${encodedKey}`, keyBytes],
  ["the prefix of a signature, as text", `v1,whsec_${encodedKey}`, Buffer.from(`v1,whsec_${encodedKey}`)],
  ["15 bytes of text", "x".repeat(15), Buffer.from("x".repeat(15))]
]
const base64Secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`
const body = Buffer.from('{"event":"work_item.merged","title":"Größe 🪶"}')

/** As the dispatcher sends it, signed by each secret. */
const sent = (secrets: ReadonlyArray<string>, changed: Partial<Delivered> = {}): Delivered => ({
  secret: secrets[0] ?? "",
  headers: standardWebhooksHeaders(secrets.map(standardWebhooksKey), {
    deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
    attemptAtMs: sentAt * 1_000 + 400,
    body
  }),
  body,
  nowSeconds: sentAt,
  ...changed
})
const plain = sent([secret])
const withHeader = (name: string, value: string): Delivered => ({
  ...plain,
  headers: { ...plain.headers, [name]: value }
})
const signature = plain.headers["webhook-signature"] ?? ""

const cases: ReadonlyArray<readonly [name: string, delivered: Delivered, isValid: boolean]> = [
  ["a signed delivery", plain, true],
  ["one signed with a base64 secret", sent([base64Secret]), true],
  ["one that took five minutes", { ...plain, nowSeconds: sentAt + 300 }, true],
  ["one of a clock five minutes ahead", { ...plain, nowSeconds: sentAt - 300 }, true],
  ["an old copy", { ...plain, nowSeconds: sentAt + 301 }, false],
  ["one from the future", { ...plain, nowSeconds: sentAt - 301 }, false],
  ["one signed by the new and the old secret, for who has the new", sent([base64Secret, secret]), true],
  ["and for who still has the old", sent([base64Secret, secret], { secret }), true],
  ["but not for who has another", sent([base64Secret, secret], { secret: "a third" }), false],
  ["one signed with another secret", sent(["another"], { secret }), false],
  ["a forged body", { ...plain, body: Buffer.from('{"event":"work_item.merged","title":"mine"}') }, false],
  ["a longer body", { ...plain, body: Buffer.concat([body, Buffer.from(" ")]) }, false],
  ["another delivery's id", withHeader("webhook-id", "another"), false],
  ["a fresh time on an old signature", withHeader("webhook-timestamp", String(sentAt + 1)), false],
  ["a time that is no number", withHeader("webhook-timestamp", `${sentAt}.5`), false],
  ["a time that overflows", withHeader("webhook-timestamp", "9".repeat(5_000)), false],
  ["no id", withHeader("webhook-id", ""), false],
  ["no time", withHeader("webhook-timestamp", ""), false],
  ["no signature", withHeader("webhook-signature", ""), false],
  ["a signature of another version", withHeader("webhook-signature", signature.replace("v1,", "v2,")), false],
  ["a signature cut short", withHeader("webhook-signature", signature.slice(0, -4)), false],
  ["a signature that is no base64", withHeader("webhook-signature", "v1,???? v1, v1"), false],
  ...noKeys.map(([what, given, key]) => [what, signedBy(given, key), false] as const),
  ["16 bytes of text", sent(["x".repeat(16)]), true],
  ["whsec_ and 24 bytes", sent([`whsec_${keyBytes.subarray(0, 24).toString("base64")}`]), true],
  ["whsec_ and 64 bytes", sent([`whsec_${Buffer.concat([keyBytes, keyBytes]).toString("base64")}`]), true],
  ["more signatures than anybody sends", withHeader("webhook-signature", `${"v1,AAAA ".repeat(8)}${signature}`), false]
]

/** A line for each case, its fields in base64. */
const input = cases
  .map(([, { secret, headers, body, nowSeconds }]) =>
    [
      secret,
      headers["webhook-id"] ?? "",
      headers["webhook-timestamp"] ?? "",
      headers["webhook-signature"] ?? "",
      body,
      String(nowSeconds)
    ]
      .map((field) => Buffer.from(field).toString("base64"))
      .join("\t")
  )
  .join("\n")

interface Language {
  /** All of these must be on the machine. */
  readonly programs: ReadonlyArray<string>
  /** Where the verifying file goes, and what calls it for each line. */
  readonly file: string
  readonly caller: readonly [path: string, code: string, ...Array<string>]
  readonly run: ReadonlyArray<ReadonlyArray<string>>
}

const languages: Readonly<Record<string, Language>> = {
  Python: {
    programs: ["python3"],
    file: "verify.py",
    caller: [
      "caller.py",
      `import base64, sys
from verify import verify
for line in sys.stdin.read().split("\\n"):
    secret, id, timestamp, signature, body, now = (base64.b64decode(field) for field in line.split("\\t"))
    headers = {"webhook-id": id.decode(), "webhook-timestamp": timestamp.decode(), "webhook-signature": signature.decode()}
    print("true" if verify(secret.decode(), headers, body, int(now)) else "false")
`
    ],
    run: [["python3", "caller.py"]]
  },
  Go: {
    programs: ["go"],
    file: "webhook/verify.go",
    caller: [
      "main.go",
      `package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"caller/webhook"
)

// As an http.Header, whose package would take most of the time to compile.
type header map[string]string

func (given header) Get(name string) string {
	return given[strings.ToLower(name)]
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var fields [6][]byte
		for index, field := range strings.Split(lines.Text(), "\\t") {
			fields[index], _ = base64.StdEncoding.DecodeString(field)
		}
		headers := header{
			"webhook-id":        string(fields[1]),
			"webhook-timestamp": string(fields[2]),
			"webhook-signature": string(fields[3]),
		}
		now, _ := strconv.ParseInt(string(fields[5]), 10, 64)
		fmt.Println(webhook.Verify(string(fields[0]), headers, fields[4], time.Unix(now, 0)))
	}
}
`,
      "go.mod",
      "module caller\n\ngo 1.21\n"
    ],
    run: [["go", "run", "-gcflags=all=-N -l", "."]]
  },
  Ruby: {
    programs: ["ruby"],
    file: "verify.rb",
    caller: [
      "caller.rb",
      `require_relative "verify"
STDIN.each_line(chomp: true) do |line|
  secret, id, timestamp, signature, body, now = line.split("\\t", -1).map { |field| field.unpack1("m").force_encoding("UTF-8") }
  headers = { "webhook-id" => id, "webhook-timestamp" => timestamp, "webhook-signature" => signature }
  puts Webhook.verify(secret, headers, body, now.to_i)
end
`
    ],
    run: [["ruby", "caller.rb"]]
  },
  Java: {
    programs: ["java", "javac"],
    file: "Webhook.java",
    caller: [
      "Caller.java",
      `import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;

public final class Caller {
    public static void main(String[] parameters) throws Exception {
        String input = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        for (String line : input.split("\\n")) {
            byte[][] fields = new byte[6][];
            String[] encoded = line.split("\\t", -1);
            for (int index = 0; index < 6; index++) fields[index] = Base64.getDecoder().decode(encoded[index]);
            Map<String, String> headers = Map.of(
                    "webhook-id", text(fields[1]), "webhook-timestamp", text(fields[2]), "webhook-signature", text(fields[3]));
            Instant now = Instant.ofEpochSecond(Long.parseLong(text(fields[5])));
            System.out.println(Webhook.verify(text(fields[0]), headers, fields[4], now));
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
`
    ],
    run: [
      ["javac", "-encoding", "UTF-8", "-d", "classes", "Webhook.java", "Caller.java"],
      ["java", "-cp", "classes", "Caller"]
    ]
  },
  PHP: {
    programs: ["php"],
    file: "verify.php",
    caller: [
      "caller.php",
      `<?php
require "verify.php";
while (($line = fgets(STDIN)) !== false) {
    [$secret, $id, $timestamp, $signature, $body, $now] = array_map("base64_decode", explode("\\t", rtrim($line, "\\n")));
    $headers = ["webhook-id" => $id, "webhook-timestamp" => $timestamp, "webhook-signature" => $signature];
    echo verify_webhook($secret, $headers, $body, (int) $now) ? "true" : "false", "\\n";
}
`
    ],
    run: [["php", "caller.php"]]
  }
}

const isThere = (program: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)))

/** The language's answers to all cases. */
const answers = ({ file, caller, run }: Language, source: string) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-verify-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, file, ".."), { recursive: true })
  cpSync(source, join(folder, file))
  for (let index = 0; index < caller.length; index += 2) {
    writeFileSync(join(folder, caller[index] ?? ""), caller[index + 1] ?? "")
  }
  const environment = { ...process.env, GOPROXY: "off", GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" }
  let output = ""
  for (const [program = "", ...parameters] of run) {
    output = execFileSync(program, parameters, { cwd: folder, input, encoding: "utf8", env: environment })
  }
  return output.trim().split("\n")
}

const named = (given: ReadonlyArray<string>) => cases.map(([name], index) => `${name}: ${given[index]}`)
const wanted = cases.map(([name, , isValid]) => `${name}: ${isValid}`)

describe("the code that verifies a webhook", () => {
  it("is given in each of the languages that are tried here, and TypeScript", () => {
    assert.deepStrictEqual(
      verifyingFiles.map(({ language }) => language),
      ["TypeScript", ...Object.keys(languages)]
    )
  })

  it("takes what the dispatcher signs and nothing else, in TypeScript", async () => {
    const byRecord: Array<string> = []
    const byHeaders: Array<string> = []
    for (const [, { secret, headers, body, nowSeconds }] of cases) {
      byRecord.push(String(await verify(secret, headers, body, nowSeconds)))
      byHeaders.push(String(await verify(secret, new Headers(headers), body.toString(), nowSeconds)))
    }
    assert.deepStrictEqual(named(byRecord), wanted)
    assert.deepStrictEqual(named(byHeaders), wanted)
  })

  for (const [name, language] of Object.entries(languages)) {
    const missing = language.programs.filter((program) => !isThere(program))
    const where = missing.length === 0 ? "" : ` (skipped: no ${missing.join(", ")} on this machine)`
    it.skipIf(missing.length > 0)(`takes what the dispatcher signs and nothing else, in ${name}${where}`, () => {
      const source = verifyingFiles.find((file) => file.language === name)?.path ?? ""
      assert.deepStrictEqual(named(answers(language, source)), wanted)
    })
  }
})
