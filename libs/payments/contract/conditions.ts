/** What can be wrong with payments: chains, settlers, books. */
import type { ConditionGroup } from "#base/condition"

export const paymentConditions: ConditionGroup = {
  name: "starling-payments",
  title: "Payments",
  conditions: [
    {
      name: "PaymentBooksDiffer",
      severity: "critical",
      title: "Chain, claims and receipts of {network} differ: {value} findings {finding} are open.",
      hurts: "A payer or the seller may have lost money on {network}.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "payment_book_findings_standing" },
        by: ["network", "finding"],
        is: [">", 0]
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling books list", "./starling books show ID", "./starling books mend ID"],
      runbook: {
        means:
          "The chain, RECEIPTS and the records of payment channels disagree: a transfer without a receipt, a receipt without its transfer, amounts that differ, or a channel whose charges are not what its receipts, its vouchers or the chain say. It fires as long as a finding stands, and ends at the comparison after the finding has ended.",
        lookAt:
          "`./starling books list` for the findings that stand, and `./starling books show <id>` for one with its transfer, receipts and claims, what it means and what to do; the transaction in a block explorer.",
        act: '`./starling books mend <id>` where the list says that it may help: a settler settles an overdue payment after a look at the chain, writes a missing receipt, or serves a payer again who has paid after all. Otherwise stop selling on that network until the cause is understood, then `./starling books accept <id> --reason "..."`. A finding that a later comparison finds no more ends automatically; `./starling books list --ended` has those of thirty days. Do not edit claims by hand.'
      }
    },
    {
      name: "PaymentBooksUnread",
      severity: "warning",
      title: "The chain and the receipts of {network} were last compared to their end {value:duration} ago.",
      hurts: "Nobody yet; money lost on {network} would not be noticed.",
      seen: { kind: "age", series: { metric: "payment_books_read_timestamp_seconds" }, by: ["network"], above: 3600 },
      after: "5m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingPodDown",
        "PaymentChainUnreachable",
        "PaymentSettlerWithoutKey"
      ],
      commands: ["./starling books list"],
      runbook: {
        means: "No settler has compared chain and receipts for an hour.",
        lookAt:
          "`./starling books list`: when each network was compared, and why not since; whether a settler holds the lease `payment-books`; the network's nodes.",
        act: "Restart the settlers; give the network another node."
      }
    },
    {
      name: "PaymentChannelsDiffer",
      severity: "critical",
      title:
        "{value} faults of payment channels of {network}: their records, their receipts and the chain do not agree.",
      hurts: "The seller may have lost what channels of {network} were charged.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "payment_channel_differences" },
        by: ["network"],
        is: [">", 0]
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling books list"],
      runbook: {
        means:
          "Payment channels cannot be explained: charged without a voucher, charged more than still lies in them, or charged another amount than their receipts say. Money that has left a channel is lost.",
        lookAt:
          '`./starling books list`: each is a finding `ChannelDiffers` with its channel, what differs and by how much, in the settlers\' log as `a payment channel cannot be explained`; `payment_channel_units{sum="lost"}`; `payment_channel_transactions_total` for claims that were refused.',
        act: "Where a payer withdrew before anything was claimed, find out why no settler claimed within `WithdrawDelaySeconds`: it had no key, no fees, or no chain. Lower `ChannelClaimUsd` and `ChannelClaimSeconds` to owe less at once. Receipts that are missing, or too many, come of a backup of RECEIPTS or of KV `channels` that was restored without the other: `./starling books accept <id>` once that is sure. After a restore of an old backup of KV `channels`, charges since then are forfeited."
      }
    },
    {
      name: "PaymentChannelsUnwatched",
      severity: "critical",
      title: "The payment channels of {network} have not been checked for {value:duration}.",
      hurts: "Vouchers on {network} are refused soon, and a payer that withdraws is not noticed.",
      seen: {
        kind: "age",
        series: { metric: "payment_channels_watched_timestamp_seconds" },
        by: ["network"],
        above: 300
      },
      after: "1m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown", "PaymentChainUnreachable"],
      commands: ["./starling books list"],
      runbook: {
        means:
          "No settler has seen for five minutes what payers do with their channels. Vouchers are refused after `ChannelMirrorSeconds`, and a payer that withdraws is not noticed: everything must be claimed within `WithdrawDelaySeconds`.",
        lookAt:
          "Which settler holds the lease `channels-<network>`, and its log; the network's nodes, whose newest block may stand still.",
        act: "Restart the settlers; give the network another node."
      }
    },
    {
      name: "PaymentSettlementsUncollected",
      severity: "warning",
      title: "{value} calls paid on {network} were served but could not be collected.",
      hurts: "The seller is not paid for these calls.",
      seen: {
        kind: "rise",
        series: { metric: "payment_settlement_tries_total", where: { outcome: "uncollected" } },
        by: ["network"],
        within: "1h",
        above: 0
      },
      after: "0m",
      causedBy: ["PaymentSettlerWithoutKey", "PaymentSignerFailing", "PaymentChainUnreachable"],
      commands: ["./starling receipts list --outcome uncollected", "./starling receipts sums --by payer"],
      runbook: {
        means:
          "Calls were served, and their payments expired before they could be collected. The payer is on the deny list; `UnpaidPayerMaxUsd` bounds the loss.",
        lookAt:
          "`./starling receipts list --outcome uncollected` for the reasons, `./starling receipts sums --by payer` for whose they are, `./starling claims show <key>` for one with what its payer owes.",
        act: "An empty account is the payer's fault. Many at once are ours: fees, keys or nodes."
      }
    },
    {
      name: "PaymentSettlementsSlow",
      severity: "warning",
      title: "Settling on {network} takes {value:duration} (p99).",
      hurts: "Payments on {network} may expire before they are collected.",
      seen: { kind: "p99", histogram: "payment_settlement_seconds", by: ["network"], within: "15m", above: 60 },
      after: "15m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "PaymentChainUnreachable",
        "PaymentSettlerWithoutKey",
        "PaymentSignerFailing"
      ],
      commands: ["./starling claims list --state SETTLING", "./starling books list"],
      runbook: {
        means: "More than a minute passes between serving and receipt. Payments that expire meanwhile are lost.",
        lookAt:
          "`./starling claims list --state SETTLING`, the one that waits longest first, and how often each was asked for; the settler's log for the reason of the delay; fees on the network; nonce gaps (`payment_nonce_gaps_filled_total`).",
        act: "Top up the settler's account: `./starling books list` shows what each key holds for fees. Use another node. Add keys to `SettlerKeyEnvVars`; keys settle in parallel."
      }
    },
    {
      name: "PaymentSettlerWithoutKey",
      severity: "critical",
      title: "No settler holds a key of {network}: its payments are not collected.",
      hurts: "Calls paid on {network} are served and not collected; their payments may expire.",
      seen: {
        kind: "level",
        of: "sum",
        series: { metric: "payment_settler_keys_held" },
        by: ["network"],
        is: ["==", 0]
      },
      after: "2m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingPodDown"],
      commands: ["./starling claims list --state SETTLING"],
      runbook: {
        means: "No process holds a key for this network: no payment is collected there.",
        lookAt:
          "Settler pods; the lease of each key; whether the secret is mounted; `./starling claims list --state SETTLING` for what waits.",
        act: "Start settlers with the network's keys. Until then stop selling there."
      }
    },
    {
      name: "PaymentFeesLow",
      severity: "warning",
      title: "A settler's key of {subject} can pay the fees of fewer than 100 transfers.",
      hurts: "Nobody yet; without fees nothing is collected on {subject}.",
      after: "5m",
      causedBy: ["PaymentChainUnreachable"],
      commands: ["./starling books list"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "fees", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      runbook: {
        means: "A key of a settler holds too little of the network's own coin.",
        lookAt: "`./starling books list`: what each key holds. `payment_settler_transactions_left`.",
        act: "Send coin to the key's address. Until then its payments wait, and those that expire are lost."
      }
    },
    {
      name: "PaymentChainUnreachable",
      severity: "critical",
      title: "No node of {network} answers.",
      hurts: "No payment on {network} is taken: its paid calls answer 503, and settlements wait.",
      seen: { kind: "level", of: "most", series: { metric: "x402_chain_unreachable" }, by: ["network"], is: ["==", 1] },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "./starling books list"],
      runbook: {
        means:
          "No node of the network answers, by the newest call or the check of every ten seconds. Verifying answers 503, settling waits.",
        lookAt:
          "`./starling books list`: when the network was last compared. The verifiers' log, `/readyz` (`chain`), `x402_rpc_calls_total`; the nodes' operator's status page.",
        act: "Bring a node back, or add one to `RpcUrls`."
      }
    },
    {
      name: "PaymentChainNodeOut",
      severity: "warning",
      title: "{value} calls to nodes of {network} got no answer.",
      hurts: "Nobody while another node of {network} serves.",
      seen: {
        kind: "rise",
        series: { metric: "x402_rpc_calls_total", where: { outcome: "unavailable" } },
        by: ["network"],
        within: "15m",
        above: 3
      },
      after: "5m",
      causedBy: ["PaymentChainUnreachable"],
      commands: ["./starling books list"],
      runbook: {
        means:
          "Calls to a node get no answer again and again; others serve. `x402_rpc_nodes_open` has the nodes that are left alone.",
        lookAt: "Its operator's status page.",
        act: "Replace it before the next one fails."
      }
    },
    {
      name: "PaymentTokenMismatch",
      severity: "critical",
      title: "The token of {network} is not the configured one: nothing is sold there.",
      hurts: "Nothing is sold on {network}.",
      seen: { kind: "level", of: "most", series: { metric: "x402_token_mismatch" }, by: ["network"], is: ["==", 1] },
      after: "1m",
      causedBy: [],
      commands: ["./starling models list"],
      runbook: {
        means:
          "The configured token, or the chain behind `RpcUrls`, differs from what the chain reports. Quotes no longer offer the network, and its payments are refused; other networks and free models are still served.",
        lookAt:
          "The log line `nothing is sold on`, which has the configured value and the token's; `/readyz` has it too.",
        act: "Correct `AssetName`, `AssetVersion`, `AssetDecimals`, `Asset` or `RpcUrls`; a known token needs none of the first three. Verifiers with this fault are not ready, so that a rollout of such a configuration stops at the first pod."
      }
    },
    {
      name: "PaymentFacilitatorUnavailable",
      severity: "critical",
      title: "The facilitator of {network} does not answer.",
      hurts: "No payment on {network} is taken or settled by it: its calls answer 503.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "x402_facilitator_unreachable" },
        by: ["network"],
        is: ["==", 1]
      },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "./starling claims list --state SETTLING"],
      runbook: {
        means: "The remote facilitator does not answer. Settlements that it was asked for are looked up on the chain.",
        lookAt: "Its operator's status page, the network policy, the certificate.",
        act: "Wait, or settle with your own keys on that network."
      }
    },
    {
      name: "PaymentFacilitatorUnconfirmed",
      severity: "warning",
      title: "The facilitator reported {value} settlements on {network} that are not on the chain.",
      hurts: "The seller may not be paid for these calls.",
      seen: {
        kind: "rise",
        series: { metric: "x402_facilitator_unconfirmed_total" },
        by: ["network"],
        within: "5m",
        above: 0
      },
      after: "10m",
      causedBy: ["PaymentChainUnreachable"],
      commands: ["./starling claims list --state SETTLING"],
      runbook: {
        means:
          "For ten minutes the remote facilitator has called payments settled that the chain did not have five seconds later. Each is pending: it is answered with `X-Payment-Settled: false`, and looked up and requested again until it ends; `UnpaidPayerMaxUsd` bounds the loss.",
        lookAt:
          "`./starling claims list --state SETTLING`; the settler's log for the transaction that the facilitator names, in a block explorer; the age of the newest block at the nodes of `RpcUrls`; PaymentSettlementsUncollected, which counts the payments that were lost this way.",
        act: "When the transaction is there by now, the nodes are behind, or the facilitator answers before it sends: name another node. When it is nowhere, or pays somebody else: stop selling on that network, and settle with your own keys there."
      }
    },
    {
      name: "PaymentNewcomersRefused",
      severity: "warning",
      title: "{value} payments a second from new payers are refused: new payers have reached their unpaid limit.",
      hurts: "Payers that have paid little yet get 429; others are served.",
      seen: {
        kind: "pace",
        series: { metric: "x402_claims_total", where: { outcome: "newcomers" } },
        by: [],
        above: 0.1
      },
      after: "5m",
      causedBy: ["PaymentChainUnreachable", "PaymentSettlerWithoutKey", "PaymentSettlementsSlow"],
      commands: ["./starling receipts list --outcome uncollected", "./starling claims list --state UNCOLLECTED"],
      runbook: {
        means:
          "Payers that have paid little yet have as much unpaid, in work or lost within a day, as `UnpaidNewcomersMaxUsd` lets out. Further ones get 429 `PAYMENT_EXPOSURE_LIMIT`; who has paid before is served, and so is who pays by channel.",
        lookAt:
          "`x402_unpaid_usd` and `increase(x402_unpaid_lost_usd_total[1d])`. Much unpaid and little lost is a crowd, or a chain that is slow. Much lost is somebody who empties wallets: `./starling receipts list --outcome uncollected`, `./starling claims list --state UNCOLLECTED`.",
        act: "For a crowd raise `UnpaidNewcomersMaxUsd`: it is what strangers can cost you in a day. Otherwise leave it: what was lost is forgotten within a day. Offer payment channels, which are paid before."
      }
    },
    {
      name: "PaymentSignerFailing",
      severity: "critical",
      title: "The remote signer {subject} does not answer, or does not have the key.",
      hurts: "Payments are not collected by its keys and may expire.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "signer", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "./starling claims list --state SETTLING"],
      runbook: {
        means:
          "A settler's key could not sign: its remote signer is away, has lost the key, or answers with what is no signature of it. Payments wait for it, and nothing is sent.",
        lookAt:
          "`/readyz` of the settlers, `signer <Name>`; their log; the signer's own log and health (`/upcheck`, `/healthcheck`); `./starling claims list --state SETTLING` for what waits.",
        act: "Bring the signer back, or give it the key again (`POST /reload` of web3signer). With a second key of the network settlements go on by that one, but for payers of `upto` who have signed the first."
      }
    }
  ]
}
