/**
 * Characters that a terminal acts upon instead of showing them: control characters (C0, DEL, C1; ESC among
 * them), format characters (bidirectional overrides and isolates, zero-width characters, byte order marks, tags), line
 * and paragraph separators, and surrogates without a partner. Tab and line feed structure a text and stay, and so does
 * the carriage return of a line's end in CSV.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}](?<![\t\n])(?<!\r(?=\n))/gu
const lineStructure = /[\t\r\n]/g

/**
 * The same text with every character that a terminal would act upon written as `\u202e`. In a JSON document, where such
 * characters stand in strings only, that is JSON's own spelling: the document means what it meant.
 */
export function visibleText(text: string): string {
  return text.replace(unprintable, escaped)
}

/** The same for a value inside a line: a line feed or tab of its own could forge another line or column. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(lineStructure, escaped)
}

function escaped(character: string): string {
  return character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
