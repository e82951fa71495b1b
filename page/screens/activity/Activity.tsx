import "./activity.css"
import { useLocation, useRoute } from "wouter"
import { useMay } from "../../api/signed-in.ts"
import { Head, Tabs } from "../../design/Head.tsx"
import { Empty } from "../../design/Said.tsx"
import { Histories } from "../history/Histories.tsx"
import { Books, Finding } from "./Books.tsx"
import { Claim, Claims } from "./Claims.tsx"
import { Receipt } from "./Receipt.tsx"
import { Receipts } from "./Receipts.tsx"
import { Sums } from "./Sums.tsx"

const tabs = [
  { path: "/activity", below: "/activity/receipts/", title: "Receipts" },
  { path: "/activity/sums", below: "/activity/sums/", title: "Totals" },
  { path: "/activity/claims", below: "/activity/claims/", title: "Claims" },
  { path: "/activity/books", below: "/activity/books/", title: "Books" },
  { path: "/activity/chains", below: "/activity/chains/", title: "Chains" }
] as const

/** Money: what was paid by whom for what, payments in use, and what does not fit. */
const Activity = () => {
  const [location] = useLocation()
  const may = useMay("console:read")
  return (
    <>
      <Head title="Activity" />
      {may ? (
        <>
          <Tabs
            label="Parts of Activity"
            tabs={tabs.map(({ path, below, title }) => ({
              title,
              href: `#${path}`,
              isHere: path === location || location.startsWith(below)
            }))}
          />
          <Part />
        </>
      ) : (
        <Empty title="Your token cannot read payments">
          <p>
            It lacks the scope <code>console:read</code>. Its owner can make one that has it, under Tokens.
          </p>
        </Empty>
      )}
    </>
  )
}

const Part = () => {
  const [location] = useLocation()
  const [isReceipt, receipt] = useRoute("/activity/receipts/:sequence")
  const [isClaim, claim] = useRoute("/activity/claims/:key")
  const [isFinding, finding] = useRoute("/activity/books/:finding")
  if (isReceipt) return <Receipt sequence={receipt.sequence} />
  if (isClaim) return <Claim id={claim.key} />
  if (isFinding) return <Finding id={finding.finding} />
  if (location === "/activity/sums") return <Sums />
  if (location === "/activity/claims") return <Claims />
  if (location === "/activity/chains") return <Histories heading="Calls to the chains' nodes" kind="chain" />
  return location === "/activity/books" ? <Books /> : <Receipts />
}

export default Activity
