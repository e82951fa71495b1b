/** The screens that are looked at with a fleet in use, each by the name of its picture. */
export const pictures: Readonly<Record<string, string>> = {
  "/": "home",
  "/find?id=crm-sync": "find",
  "/events": "events",
  "/endpoints": "endpoints",
  "/deliveries": "deliveries",
  "/work-items": "work-items",
  "/models": "models",
  "/activity": "activity",
  "/speech": "speech",
  "/fleet": "fleet",
  "/settings": "settings"
}
/** Those that the documents show, kept in docs/pictures. */
export const portraits: ReadonlyArray<string> = Object.values(pictures).filter((name) => name !== "find")
/** What a page of documents may load for a picture. */
export const portraitBytesMax = 120_000
