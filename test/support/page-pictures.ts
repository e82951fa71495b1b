/** The screens beside Home that are looked at, each by the name of its picture. */
export const pictures: Readonly<Record<string, string>> = {
  "/find?id=demo": "find",
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
/** Home is shown after its four jobs were done there. */
export const homePicture = "home"
/** Those that the documents show, kept in docs/pictures. */
export const portraits: ReadonlyArray<string> = [homePicture, "deliveries", "speech"]
/** What a page of documents may load for a picture. */
export const portraitBytesMax = 120_000
