/** How twenty books begin, all of them in the public domain: what a recogniser is to understand. */
export const openings: ReadonlyArray<string> = [
  "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do.",
  "It is a truth universally acknowledged, that a single man in possession of a good fortune must be in want of a wife.",
  "To Sherlock Holmes she is always the woman. I have seldom heard him mention her under any other name.",
  "Call me Ishmael. Some years ago, having little or no money in my purse, I thought I would sail about a little and see the watery part of the world.",
  "You will rejoice to hear that no disaster has accompanied the commencement of an enterprise which you have regarded with such evil forebodings.",
  "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.",
  "There was no possibility of taking a walk that day. We had been wandering, indeed, in the leafless shrubbery an hour in the morning.",
  "I have just returned from a visit to my landlord, the solitary neighbour that I shall be troubled with.",
  "My father's family name being Pirrip, and my Christian name Philip, my infant tongue could make of both names nothing longer or more explicit than Pip.",
  "All children, except one, grow up. They soon know that they will grow up, and the way Wendy knew was this.",
  "Dorothy lived in the midst of the great Kansas prairies, with Uncle Henry, who was a farmer, and Aunt Em, who was the farmer's wife.",
  "No one would have believed in the last years of the nineteenth century that this world was being watched keenly and closely.",
  "The Time Traveller was expounding a recondite matter to us. His pale grey eyes shone and twinkled, and his usually pale face was flushed and animated.",
  "Buck did not read the newspapers, or he would have known that trouble was brewing, not alone for himself, but for every tide water dog.",
  "The Mole had been working very hard all the morning, spring cleaning his little home.",
  "Christmas won't be Christmas without any presents, grumbled Jo, lying on the rug.",
  "The studio was filled with the rich odour of roses, and when the light summer wind stirred amidst the trees of the garden, there came through the open door the heavy scent of the lilac.",
  "My father had a small estate in Nottinghamshire; I was the third of five sons.",
  "When I wrote the following pages, I lived alone, in the woods, a mile from any neighbor, in a house which I had built myself.",
  "I was born in the year sixteen thirty two, in the city of York, of a good family, though not of that country."
]
