import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { streamKeeper } from "../../deploy/generate/users.ts"
import { keeperUser } from "../../services/fleet/nats-server/configuration.ts"
import { connectAs, passwordOf, startFleetBroker, startMachineBroker } from "../support/fleet-broker.ts"
import { repository } from "./tools.ts"

const root = mkdtempSync(join(tmpdir(), "starling-backup-"))
afterAll(() => rmSync(root, { recursive: true }))

const backupAs = (user: string, url: string, ...parameters: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(repository, "deploy/backup/main.ts"), ...parameters], {
    encoding: "utf8",
    timeout: 120_000,
    env: { ...process.env, BUS_URL: url, BUS_USER: user, BUS_PASSWORD: passwordOf(user) }
  })

const brokers = [
  { of: "Kubernetes", keeper: streamKeeper, start: () => startFleetBroker() },
  { of: "one machine", keeper: keeperUser, start: startMachineBroker }
]

describe("a backup", () => {
  it.each(brokers)("of $of restores a stream's messages and its consumers' positions", async (broker) => {
    const folder = mkdtempSync(join(root, "copy-"))
    const server = await broker.start()
    const backup = (...parameters: ReadonlyArray<string>) => backupAs(broker.keeper, server.url, ...parameters)
    try {
      const settler = await connectAs(server.url, "payment-settler")
      const gateway = await connectAs(server.url, "model-gateway")
      const publishing = jetstream(gateway)
      for (let count = 0; count < 300; count++) {
        await publishing.publish("settlements.trial", new Uint8Array(2_000).fill(count))
      }
      const settling = await jetstreamManager(settler, { checkAPI: false })
      await settling.consumers.add("SETTLEMENTS", {
        durable_name: "trial",
        ack_policy: AckPolicy.Explicit,
        filter_subjects: ["settlements.trial"]
      })
      const consumer = await jetstream(settler).consumers.get("SETTLEMENTS", "trial")
      for await (const message of await consumer.fetch({ max_messages: 100, expires: 2_000 })) message.ack()
      await settler.flush()

      const saved = backup("save", folder)
      assert.strictEqual(saved.status, 0, saved.stderr)
      assert.include(saved.stdout, "saved SETTLEMENTS: 200 messages, last 300")
      assert.include(saved.stdout, "saved KV_authorizations")
      assert.notInclude(saved.stdout, "saved SPEECH:")
      const order = [...saved.stdout.matchAll(/^saved (\w+)/gmu)].map(([, name]) => name)
      assert.deepStrictEqual(order.slice(-2), ["EVENTS", "LOG"])

      const keeping = await connect({ servers: server.url, user: broker.keeper, pass: passwordOf(broker.keeper) })
      await (await jetstreamManager(keeping)).streams.delete("SETTLEMENTS")
      const restored = backup("restore", folder, "SETTLEMENTS")
      const twice = backup("restore", folder, "SETTLEMENTS")

      assert.strictEqual(restored.status, 0, restored.stderr)
      assert.include(restored.stdout, "restored SETTLEMENTS: 200 messages, last 300")
      assert.strictEqual(twice.status, 1)
      const { ack_floor: floor, num_pending: pending } = await settling.consumers.info("SETTLEMENTS", "trial")
      assert.deepStrictEqual([floor.stream_seq, pending], [100, 200])
      await Promise.all([settler.close(), gateway.close(), keeping.close()])
    } finally {
      await server.stop()
    }
  })
})
