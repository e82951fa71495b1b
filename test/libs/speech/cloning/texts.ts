/** The fable of the north wind and the sun, as phoneticians let it be read in every language. */

const english =
  "The north wind and the sun were disputing which was the stronger, when a traveler came along wrapped in a warm cloak. They agreed that the one who first succeeded in making the traveler take his cloak off should be considered stronger than the other."
const spanish =
  "El viento norte y el sol discutían por saber quién era el más fuerte de los dos. Mientras discutían, se acercó un viajero cubierto en un cálido abrigo. Entonces decidieron que el más fuerte sería quien lograse despojar al viajero de su abrigo."

export const passages = {
  "en-US": english,
  "en-GB": english,
  "de-DE":
    "Einst stritten sich Nordwind und Sonne, wer von ihnen beiden wohl der Stärkere wäre, als ein Wanderer, der in einen warmen Mantel gehüllt war, des Weges daherkam. Sie wurden einig, dass derjenige für den Stärkeren gelten sollte, der den Wanderer zwingen würde, seinen Mantel abzunehmen.",
  "es-ES": spanish,
  "es-MX": spanish,
  "fr-FR":
    "La bise et le soleil se disputaient, chacun assurant qu'il était le plus fort, quand ils ont vu un voyageur qui s'avançait, enveloppé dans son manteau. Ils sont tombés d'accord que celui qui arriverait le premier à faire ôter son manteau au voyageur serait regardé comme le plus fort.",
  "it-IT":
    "Si bisticciavano un giorno il vento di tramontana e il sole, l'uno pretendendo d'esser più forte dell'altro, quando videro un viaggiatore, che veniva innanzi, avvolto nel mantello. I due litiganti convennero allora che sarebbe stato ritenuto più forte chi fosse riuscito a far sì che il viaggiatore si togliesse il mantello di dosso.",
  "pt-BR":
    "O vento norte e o sol discutiam qual dos dois era o mais forte, quando sucedeu passar um viajante envolto numa capa. Ao vê-lo, põem-se de acordo em como aquele que primeiro conseguisse obrigar o viajante a tirar a capa seria considerado o mais forte."
} as const
