/**
 * Brings the cluster up with the images of this tree, and takes it down at the end, whatever came of the tests.
 * `STARLING_CLUSTER=keep` leaves it standing and takes one that stands, to try a test again and again.
 */
import buildImages from "../containers/build-images.ts"
import { type Loaded, loadImages, partsFolder, stands, tool, workFolder } from "./cluster.ts"
import { leftOut, makeControllerImages, missing } from "./production/controllers.ts"
import { images } from "./images.ts"

const keeps = process.env["STARLING_CLUSTER"] === "keep"

const timed = async (what: string, act: () => Promise<unknown>) => {
  const beganMs = performance.now()
  await act()
  process.stdout.write(`kubernetes: ${what} (${Math.round((performance.now() - beganMs) / 1_000)} s)\n`)
}

export default async () => {
  if (!keeps && (await stands()))
    throw new Error(`a cluster stands in ${workFolder} already; take it down, or test on it with STARLING_CLUSTER=keep`)
  const end = async () => {
    if (!keeps) await timed("taken down", () => tool("down"))
  }
  for (const line of leftOut(missing(), partsFolder)) process.stdout.write(`${line}\n`)
  try {
    let ofControllers: ReadonlyArray<Loaded> = []
    await timed("the images are made", async () => {
      buildImages()
      ofControllers = await makeControllerImages()
    })
    await timed("three nodes are ready", () => tool("up"))
    await timed("each node has the images", () => loadImages([...images(), ...ofControllers]))
  } catch (error) {
    await end()
    throw error
  }
  return end
}
