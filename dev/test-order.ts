/**
 * The order of test files. Vitest takes the larger file first, but some small ones take minutes: they wait for kills,
 * leases and restarts. One of those that begins last would keep a machine waiting with nothing else to do.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files of half a minute and more among others of seconds, the longest first. */
export const longFiles: ReadonlyArray<string> = [
  "test/containers/fleet.containers.test.ts",
  "test/fleet/pipeline-crowd.fleet.test.ts",
  "test/fleet/channel-kills.fleet.test.ts",
  "test/page/open-for-an-hour.fleet.test.ts",
  "test/services/webhook-dispatcher/lanes.integration.test.ts",
  "test/fleet/speech-sound.fleet.test.ts",
  "test/dev/examples/pay.integration.test.ts",
  "test/libs/speech/audio/encoders/encoders.integration.test.ts",
  "test/fleet/upto-kills.fleet.test.ts",
  "test/libs/speech/engine/engines.integration.test.ts",
  "test/services/console/books.integration.test.ts",
  "test/services/pipeline-api/kills/kills.integration.test.ts",
  "test/services/webhook-dispatcher/endpoints/killed.integration.test.ts",
  "test/dev/examples/verify.integration.test.ts",
  "test/fleet/api-examples.fleet.test.ts",
  "test/services/console/deliveries-of-an-hour.integration.test.ts",
  "test/services/longest-block.integration.test.ts",
  "test/services/console/receipts-of-a-day.integration.test.ts",
  "test/services/console/http/endpoints-killed.integration.test.ts",
  "test/services/console/generated-client.integration.test.ts",
  "test/libs/speech/engine/process/process.integration.test.ts",
  "test/load-tests/main.integration.test.ts",
  "test/fleet/tour.fleet.test.ts",
  "test/page/looks.fleet.test.ts",
  "test/page/pictures.fleet.test.ts",
  "test/services/model-gateway/payments/upto.integration.test.ts",
  "test/page/models.fleet.test.ts",
  "test/fleet/settler-keystores.fleet.test.ts",
  "test/page/jobs.fleet.test.ts",
  "test/services/model-gateway/clients/payments.integration.test.ts",
  "test/page/acts.fleet.test.ts",
  "test/fleet/killed.fleet.test.ts",
  "test/deploy/tls.integration.test.ts",
  "test/dev/chain/evm.integration.test.ts",
  "test/fleet/voices-life.fleet.test.ts",
  "test/page/screens/models/snippets.integration.test.ts",
  "test/fleet/up.fleet.test.ts",
  "test/services/model-gateway/payments/channel-calls.integration.test.ts",
  "test/dev/runner/phases-endings.integration.test.ts",
  "test/fleet/say.fleet.test.ts",
  "test/fleet/speech-live.fleet.test.ts",
  "test/services/model-gateway/upstream/uptime.integration.test.ts",
  "test/fleet/payment-kills.fleet.test.ts",
  "test/deploy/roles-as-users.integration.test.ts",
  "test/fleet/payment-kills-together.fleet.test.ts",
  "test/services/model-gateway/payments/sick-chains.integration.test.ts",
  "test/fleet/dispatchers.fleet.test.ts",
  "test/fleet/planted-secrets.fleet.test.ts",
  "test/libs/speech/audio/encoders/lame.integration.test.ts"
]

interface Placed {
  readonly path: string
  readonly group: number
  readonly project: string
}

/**
 * Group by group and project by project. Within a project its rings, and the long files of each, are spread evenly: whole
 * fleets ask for more processors than there are, and files that wait for clocks for less. Pure.
 */
export const inTurn = <A>(files: ReadonlyArray<A>, placeOf: (file: A) => Placed): Array<A> => {
  const byProject = Map.groupBy(files, (file) => {
    const { group, project } = placeOf(file)
    return `${group} ${project}`
  })
  return [...byProject.values()].flatMap((ofProject) => {
    const byRing = Map.groupBy(ofProject, (file) => ringOf(placeOf(file).path))
    const turns = [...byRing.values()].flatMap((ofRing) => turnsOf(ofRing, (file) => placeOf(file).path))
    return turns.toSorted((one, other) => one.turn - other.turn).map(({ file }) => file)
  })
}

const ringOf = (path: string) => /\.(\w+)\.test\.ts$/u.exec(path)?.[1] ?? "unit"

// None that takes a minute begins in the last seventh, which takes two.
const lastLongTurn = 6 / 7

/** Turns from 0 to 1. The long files come the longest first, all others as they are. */
const turnsOf = <A>(files: ReadonlyArray<A>, pathOf: (file: A) => string) => {
  const rankOf = (file: A) => longFiles.findIndex((long) => pathOf(file).endsWith(`/${long}`))
  const long = files.filter((file) => rankOf(file) !== -1).toSorted((one, other) => rankOf(one) - rankOf(other))
  const others = files.filter((file) => rankOf(file) === -1)
  return [...spread(long, lastLongTurn), ...spread(others, 1)]
}

const spread = <A>(files: ReadonlyArray<A>, last: number) =>
  files.map((file, index) => ({ file, turn: (last * index) / files.length }))

export class InTurn extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a sequencer's method, not an array's
    const sorted = await super.sort(files)
    return inTurn(sorted, ({ moduleId, project }) => ({
      path: moduleId,
      group: project.config.sequence.groupOrder,
      project: project.name
    }))
  }
}
