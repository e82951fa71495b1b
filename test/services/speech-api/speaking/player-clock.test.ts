import { assert, describe, it } from "@effect/vitest"
import { playerClock } from "../../../../services/speech-api/speaking/player-clock.ts"

describe("the player's clock", () => {
  it("is never dry while audio comes ahead of it", () => {
    const player = playerClock()
    assert.isFalse(player.fed(1, 0, 500))
    player.started(0)
    for (let second = 1; second < 10; second++) assert.isFalse(player.fed(1, second * 900, 300))
  })

  it("is dry when it had to wait past the end of its audio, once each time", () => {
    const player = playerClock()
    player.fed(1, 0, 0)
    player.started(0)
    assert.isTrue(player.fed(1, 1_500, 400))
    assert.isFalse(player.fed(1, 2_400, 400))
    assert.isTrue(player.fed(1, 4_000, 400))
  })

  it("ignores a gap of a frame", () => {
    const player = playerClock()
    player.fed(1, 0, 0)
    player.started(0)
    assert.isFalse(player.fed(1, 1_039, 1_000))
  })

  it("does not count the time of a slow reader against us", () => {
    const player = playerClock()
    player.fed(1, 0, 0)
    player.started(0)
    assert.isFalse(player.fed(1, 5_000, 2))
    assert.isFalse(player.fed(1, 5_900, 2))
    assert.isTrue(player.fed(1, 8_000, 500))
  })

  it("does not play before it has begun, and begins once", () => {
    const player = playerClock()
    assert.isFalse(player.fed(0.1, 60_000, 60_000))
    player.started(60_000)
    player.started(90_000)
    assert.isTrue(player.fed(1, 60_200, 100))
  })
})
