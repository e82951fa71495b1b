/**
 * Words that begin a sentence in German, where a capital alone tells nothing: behind "3." they are no noun that it
 * counts.
 */
export const germanOpeners: ReadonlySet<string> = new Set(
  (
    "Aber Alle Als Am An Auch Auf Aus Bei Beide Bis Bitte Da Dabei Dafür Damit Danach Dann " +
    "Das Dass Dem Den Der Des Deshalb Die Dies Diese Dieser Dieses Doch Dort Du Ein Eine Einen " +
    "Einer Er Erst Es Für Gegen Gibt Heute Hier Ich Ihr Im In Insgesamt Ist Ja Jetzt Man " +
    "Mehr Mein Mit Morgen Nach Nein Nicht Nun Nur Ob Oder Ohne Schon Sein Seine Seit Sie Sind " +
    "So Und Uns Unter Viele Vom Von Vor Was Weil Wenn Wer Wie Wir Wo Zu Zum Zur"
  ).split(" ")
)
