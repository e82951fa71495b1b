/** The screens that docs/console.md shows beside Home, each by the name of its picture. */
export const pictures: Readonly<Record<string, string>> = {
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
