import { createRoot } from "react-dom/client"
import "./design/theme.css"
import "./design/parts.css"
import { App } from "./App.tsx"

const place = document.querySelector("#page")
if (place !== null) createRoot(place).render(<App />)
