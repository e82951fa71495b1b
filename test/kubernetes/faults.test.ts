import { assert, describe, it } from "@effect/vitest"
import { faultsOf, type Observed } from "./faults.ts"

const deployment = (name: string, readyReplicas: number): Observed => ({
  kind: "Deployment",
  metadata: { name, generation: 1 },
  spec: { replicas: 1 },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas }
})

const warning = (kind: string, name: string, message: string): Observed => ({
  kind: "Event",
  metadata: { name: `${name}.1` },
  type: "Warning",
  message,
  involvedObject: { kind, name }
})

const madeBy = (status: "True" | "False", message: string): Observed => ({
  kind: "Stream",
  metadata: { name: "speech" },
  status: { conditions: [{ type: "Ready", status, message }] }
})

describe("the faults of a namespace on a cluster", () => {
  it("are none when every workload has its pods and every stream is made", () => {
    assert.deepStrictEqual(faultsOf([deployment("sweeper", 1), madeBy("True", "made")]), [])
  })

  it("name a namespace without workloads", () => {
    assert.deepStrictEqual(faultsOf([]), [{ kind: "Namespace", name: "", why: "no workloads" }])
  })

  it("name a workload whose pods are forbidden, with the cluster's warning", () => {
    const observed: ReadonlyArray<Observed> = [
      { ...deployment("nats", 0), kind: "StatefulSet" },
      warning("StatefulSet", "nats", 'pods "nats-0" is forbidden: violates PodSecurity "restricted:latest"')
    ]

    assert.deepStrictEqual(faultsOf(observed), [
      {
        kind: "StatefulSet",
        name: "nats",
        why: '0 of 1 ready; pods "nats-0" is forbidden: violates PodSecurity "restricted:latest"'
      }
    ])
  })

  it("name a pod that starts again and again", () => {
    const pod: Observed = {
      kind: "Pod",
      metadata: { name: "sweeper-1" },
      status: {
        phase: "Running",
        containerStatuses: [
          { name: "sweeper", ready: false, restartCount: 4, state: { waiting: { reason: "CrashLoopBackOff" } } }
        ]
      }
    }

    assert.deepInclude(faultsOf([deployment("sweeper", 0), pod]), {
      kind: "Pod",
      name: "sweeper-1",
      why: "sweeper CrashLoopBackOff, started again 4 times"
    })
  })

  it("name a stream that its controller cannot make, with the controller's reason", () => {
    const why = "duplicate window can not be larger then max age (10052)"

    assert.deepStrictEqual(faultsOf([deployment("sweeper", 1), madeBy("False", why)]), [
      { kind: "Stream", name: "speech", why }
    ])
  })

  it("name a stream that its controller has not seen", () => {
    const unseen: Observed = { kind: "Stream", metadata: { name: "speech" } }

    assert.deepStrictEqual(faultsOf([deployment("sweeper", 1), unseen]), [
      { kind: "Stream", name: "speech", why: "its controller has not said anything" }
    ])
  })

  it("leave out a pod that a finished rollout lets go of", () => {
    const leaving: Observed = { kind: "Pod", metadata: { name: "sweeper-0" }, status: { phase: "Pending" } }

    assert.deepStrictEqual(faultsOf([deployment("sweeper", 1), leaving]), [])
  })
})
