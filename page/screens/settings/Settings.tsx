/** What the fleet runs with, who may call it, and what operators did. */
import { useRoute } from "wouter"
import { useMay } from "../../api/signed-in.ts"
import { Head, Tabs } from "../../design/Head.tsx"
import { Audit } from "./Audit.tsx"
import { Effective } from "./Effective.tsx"
import { Tokens } from "./Tokens.tsx"

const Settings = () => {
  const [isTokens] = useRoute("/settings/tokens")
  const [isAudit] = useRoute("/settings/acts")
  const mayManage = useMay("tokens:manage")
  return (
    <>
      <Head title="Settings" />
      <Tabs
        label="Parts of the settings"
        tabs={[
          { title: "Settings", href: "#/settings", isHere: !isTokens && !isAudit },
          ...(mayManage ? [{ title: "Tokens", href: "#/settings/tokens", isHere: isTokens }] : []),
          { title: "Audit log", href: "#/settings/acts", isHere: isAudit }
        ]}
      />
      {isTokens ? mayManage ? <Tokens /> : <OwnersOnly /> : isAudit ? <Audit /> : <Effective />}
    </>
  )
}

export default Settings

const OwnersOnly = () => <p className="soft">Only owners manage tokens: yours lacks the scope tokens:manage.</p>
