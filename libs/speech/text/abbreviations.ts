/** Words that end in a full stop which need not end a sentence, over the languages that are spoken here. */

/** Something always follows these: a name, a number, an example. */
const leading = new Set(
  (
    "mr mrs ms mx dr prof rev hon gen col maj capt lt cpl sgt cmdr adm gov sen rep pres supt st mt ft messrs vs e.g i.e " +
    "cf viz fr hr dipl ing bzw z.b d.h u.a s.o sr sra srta dra ud uds dña mme mlle mgr p.ex sig sig.ra dott avv sto sta"
  ).split(" ")
)

/** These only before a number. */
const counting = new Set(
  "no nos nr n núm num fig figs vol p pp pg art sec ch eq ca approx ver tel bd kap cap".split(" ")
)

/** Words that begin a sentence far more often than they follow an initial or "U.S.". */
const openers = new Set(
  (
    "the a an this that these those he she it they we you i his her their our my in on at but and so then when while " +
    "after before if as there here what who how why yes no not for however"
  ).split(" ")
)

const germanMonths = new Set(
  "januar februar märz april mai juni juli august september oktober november dezember".split(" ")
)

/** Does the sentence go on after `word`, which stands before a full stop, given the word that follows? */
export const goesOnAfter = (word: string, next: string): boolean => {
  const lower = word.toLowerCase()
  const following = next.toLowerCase()
  if (leading.has(lower)) return true
  if (counting.has(lower)) return /^\p{Nd}/u.test(next)
  if (/^\p{Nd}{1,2}$/u.test(word)) return germanMonths.has(following)
  return isInitial(word) && !openers.has(following)
}

/** "J", "J.R" and "U.S", but not "I": that one is a word. */
const isInitial = (word: string) => {
  const last = word.slice(word.lastIndexOf(".") + 1)
  return /^\p{Lu}\p{M}?$/u.test(last) && (word.length > 1 || word !== "I")
}
