/** What has a Roman numeral behind it in English. */
import type { RomanNumerals } from "../kinds/roman.ts"

/** `ordinal`: rulers and popes have one, "Henry the eighth". */
export const romanNumerals = (ordinal: (digits: string) => string): RomanNumerals => ({
  rulers: new Set(
    (
      "Henry Louis Elizabeth George Charles Edward James William Richard Mary Pius Paul John Benedict Leo Gregory Clement " +
      "Innocent Philip Napoleon Nicholas Catherine Alexander Frederick Ivan Peter Otto Ferdinand Francis Urban Sixtus Julius " +
      "Boniface Wilhelm Friedrich Ramesses Ramses Ptolemy Cleopatra Darius Xerxes Margrethe Harald Olav Gustav Carl Karl " +
      "Robert Malcolm Baldwin Albert Leopold Juan Felipe Alfonso Umberto Victor Emmanuel Akbar Murad Mehmed Selim Haakon"
    ).split(" ")
  ),
  ofRuler: (digits) => `the ${ordinal(digits)}`,
  headings:
    /^(?:chapter|part|act|scene|volume|vol|section|book|article|appendix|phase|type|class|level|title|stage|step|figure|fig|table|war|bowl|grade|rocky|fantasy|mark|episode|season|unit|module|schedule|annex|amendment|canto|psalm|tier|division|corps|lesson|apollo|saturn|titan|union|factor|game|quest|wing|ii|group|category|round)$/iu,
  counted: /^(?:century|centuries|dynasty|olympiad)$/iu,
  isBehindName: /^(?:of|was|and|is|reigned|ruled|died|became|had|married)$/u
})
