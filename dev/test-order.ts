/**
 * The order of test files. Vitest takes the larger file first, but some small ones take minutes: they wait for kills,
 * leases and restarts. One of those that begins last would keep a machine waiting with nothing else to do.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files of a minute and more among others of seconds. */
export const longFiles: ReadonlyArray<string> = [
  "test/containers/fleet.containers.test.ts",
  "test/fleet/payment-kills-together.fleet.test.ts",
  "test/page/open-for-an-hour.fleet.test.ts",
  "test/fleet/pipeline-crowd.fleet.test.ts",
  "test/fleet/channel-kills.fleet.test.ts",
  "test/page/looks.fleet.test.ts",
  "test/fleet/upto-kills.fleet.test.ts",
  "test/fleet/speech-formats.fleet.test.ts",
  "test/fleet/speech-live.fleet.test.ts",
  "test/fleet/pipeline-kills.fleet.test.ts",
  "test/fleet/pipeline-killed.fleet.test.ts",
  "test/libs/speech/engine/engines.integration.test.ts",
  "test/services/pipeline-api/kills/kills.integration.test.ts",
  "test/services/console/deliveries-of-an-hour.integration.test.ts",
  "test/services/console/receipts-of-a-day.integration.test.ts",
  "test/services/console/http/endpoints-killed.integration.test.ts",
  "test/services/console/generated-client.integration.test.ts",
  "test/services/console/books.integration.test.ts",
  "test/load-tests/main.integration.test.ts"
]

interface Placed {
  readonly path: string
  readonly group: number
  readonly project: string
}

/** The long files of each project before its others; else the order stays. Pure. */
export const longestFirst = <A>(files: ReadonlyArray<A>, placeOf: (file: A) => Placed): Array<A> => {
  const ofProject = Map.groupBy(files, (file) => {
    const { group, project } = placeOf(file)
    return `${group} ${project}`
  })
  const isLong = (file: A) => longFiles.some((long) => placeOf(file).path.endsWith(`/${long}`))
  return [...ofProject.values()].flatMap((own) => [...own.filter(isLong), ...own.filter((file) => !isLong(file))])
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a sequencer's method, not an array's
    const sorted = await super.sort(files)
    return longestFirst(sorted, ({ moduleId, project }) => ({
      path: moduleId,
      group: project.config.sequence.groupOrder,
      project: project.name
    }))
  }
}
