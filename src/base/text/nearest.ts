const suggested = 3

/**
 * A name without what cannot be seen of it: letters in one form, whatever their width and however they are put together (NFKC), no signs without
 * width, one space between words.
 */
export function plainSpelling(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** Characters of a word; a longer one is no misspelt name, and comparing takes as long as it is. */
const COMPARED_CHARACTERS = 200

/**
 * The names that a person who wrote `word` may have meant, the likeliest first; three at most. Those that begin with it or
 * contain it go before those that are misspelt; upper and lower case are the same, and so are spellings that look so.
 * @param textsOf everything that a person may write for a name; default: the name itself
 */
export function nearest(
  word: string,
  names: Iterable<string>,
  textsOf: (name: string) => readonly string[] = (name) => [name],
): string[] {
  if (word.length > COMPARED_CHARACTERS) return []
  const wanted = plainSpelling(word).toLowerCase()
  const ranked: { readonly name: string; readonly rank: number }[] = []
  for (const name of new Set(names)) {
    const rank = Math.min(...textsOf(name).map((text) => rankOf(wanted, plainSpelling(text).toLowerCase())))
    if (rank < Number.POSITIVE_INFINITY) ranked.push({ name, rank })
  }
  return ranked
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, suggested)
    .map(({ name }) => name)
}

/** Lower is nearer; Infinity: not alike. */
function rankOf(wanted: string, text: string): number {
  // A single letter is in nearly everything.
  const isPart = wanted.length > 1 && text.length > 1
  if (text === wanted) return 0
  if (isPart && text.startsWith(wanted)) return 1
  // A prefix of three letters begins many a long name.
  if (isPart && wanted.startsWith(text)) return 1 + wanted.length - text.length
  if (isPart && text.includes(wanted)) return 2
  const most = Math.max(1, Math.floor(Math.max(wanted.length, text.length) * 0.4))
  // Every further letter of one of them costs one.
  if (Math.abs(wanted.length - text.length) > most) return Number.POSITIVE_INFINITY
  const distance = distanceBetween(wanted, text)
  return distance <= most ? 2 + distance : Number.POSITIVE_INFINITY
}

/** Whether a word is one of these names with another case or punctuation, or with one or two wrong letters. */
export function isMisspelt(word: string, names: readonly string[]): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  return !names.includes(word) && names.some((name) => distanceBetween(plain(word), plain(name)) <= 2)
}

/** Letters to insert, leave out, replace or swap with their neighbour (optimal string alignment). */
function distanceBetween(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

/** The end of a message: `; did you mean a, b or c?`, or nothing. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return ''
  const [last = '', ...others] = [...names].reverse()
  return `; did you mean ${others.length > 0 ? `${others.reverse().join(', ')} or ` : ''}${last}?`
}

/** The message for a name that nothing has. @param list the command that lists them all */
export function unknownName(
  what: string,
  name: string,
  known: readonly { readonly name: string }[],
  list: string,
): string {
  const similar = nearest(
    name,
    known.map((one) => one.name),
  )
  return `no ${what} is called ${name}${didYouMean(similar) || `; ${list} lists them`}`
}
