import { defineConfig } from "vitest/config"

/**
 * Five rings of tests, told apart by file name: `*.test.ts` is pure and fast, for it runs at every check;
 * `*.thorough.test.ts` is pure and takes its time (random lives, sweeps over a whole range, other libraries as
 * judges, whole documents); `*.integration.test.ts` talks to a real nats-server and real sockets, `*.fleet.test.ts`
 * starts the whole fleet, `*.containers.test.ts` runs it in containers and needs a Docker engine.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.{thorough,integration,fleet,containers}.test.ts"],
          isolate: false,
          testTimeout: 10_000
        }
      },
      {
        test: {
          name: "thorough",
          include: ["test/**/*.thorough.test.ts"],
          isolate: false,
          testTimeout: 30_000
        }
      },
      {
        test: {
          name: "integration",
          include: ["test/**/*.integration.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false
        }
      },
      {
        test: {
          name: "fleet",
          include: ["test/**/*.fleet.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false
        }
      },
      {
        test: {
          name: "containers",
          include: ["test/**/*.containers.test.ts"],
          globalSetup: "test/containers/build-images.ts",
          env: { TESTCONTAINERS_RYUK_DISABLED: "true" },
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false
        }
      }
    ]
  }
})
