/** Inputs. All of them are made here: nothing that is measured depends on a file. */
const sentences = [
  "The harbour is quiet this morning.",
  "Two boats came in before dawn, and nobody on the quay could say from where.",
  "Their sails were patched with whatever had been at hand.",
  "An old man took the ropes without a word, made them fast, and went back to his nets.",
  "By noon the children knew everything.",
  "They told it at the well, at the baker's door and on the steps of the church, each a little differently.",
  "In the evening it began to rain.",
  "The boats were gone again, but one of the sails still hung over the wall to dry."
]

/** Whole sentences, at least so many characters. */
export const prose = (characters: number, from = 0): string => {
  const taken: Array<string> = []
  let length = 0
  for (let index = from; length < characters; index++) {
    const sentence = sentences[index % sentences.length] ?? ""
    taken.push(sentence)
    length += sentence.length + 1
  }
  return taken.join(" ")
}

// On average 4 s of audio, so that twenty requests a second are some eighty seconds of audio a second.
const lengths = [13, 30, 20, 60, 30, 120, 13, 60, 240, 30]

/** Another length with each index, from two words to some fifteen seconds; cut between words. */
export const mixed = (index: number): string => {
  const text = prose(300, index).slice(0, lengths[index % lengths.length])
  return `${text.slice(0, text.lastIndexOf(" "))}.`
}

/** Words that stand between pauses, so that where they begin can be heard; and what makes marks hard. */
export const spaced: ReadonlyArray<string> = [
  "River, paper, lantern, tiger, window, kitchen, yellow, bottle, island, doctor, answer, finger, evening, garden.",
  "Thunder, silver, harbour, chapter, forest, vessel, shelter, zebra, judge, hammer, village, thistle, sugar, pocket.",
  "Look. Wait. Stop. Nobody moves. Everything is still. Rain falls. Lights go out. Two people leave. Peter follows.",
  "North; east; south; west; fire below us, water around us; above us, air; ahead, land; and behind us, nothing.",
  "Call Katherine, then Thomas, then Brian; bring bread, cheese, tea, and pears; come before dark, quietly, please.",
  '<speak>Under <break time="300ms"/> past <break time="400ms"/> through <break time="500ms"/> behind <break time="300ms"/> forward.</speak>'
]

/** Sentences with pauses that a person makes, and so a model. */
export const paused: ReadonlyArray<string> = [
  "Open the window. Close the door. Read the letter. Answer the question. Leave the table. Bring the water. Carry the basket. Follow the river.",
  "The morning was cold. Nobody had lit a fire. Grandmother was still asleep. Breakfast stood on the table. Michael came down the stairs. Something had changed in the night.",
  "Where did you go? Did anybody see you? Could you hear the music? Perhaps we should ask them again! Let us wait until tomorrow. Better late than never.",
  "Gold is heavy; iron is cheap; copper is soft; lead is dull; tin is light; mercury runs; zinc is blue; nickel is hard.",
  "When the bell rang, everybody stood up; when it stopped, they sat down again; and nobody, not even the children, made a sound.",
  "First, take two eggs; second, beat them well; third, add a little milk; finally, pour it all into the pan, and wait."
]

export const tricky: ReadonlyArray<string> = [
  "Dr. Okafor's 3rd train left at 17:45, didn't it? It cost $12.50; I paid 8 %.",
  "A smile 😀 between words, naïve café façades, and co-operation with e-mail.",
  '<speak>We <emphasis level="strong">really</emphasis> mean <prosody rate="slow">it &amp; more</prosody> today.</speak>'
]
