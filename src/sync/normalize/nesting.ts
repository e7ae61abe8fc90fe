import { deepestNesting } from '../../api/schemas/form/limits.ts'
import { pointerStep } from './changed-fields.ts'

/** JSON pointer to the first value that lies deeper than `levels`, or undefined when there is none. Itself it goes no deeper. */
export function tooDeep(value: unknown, levels = deepestNesting): string | undefined {
  return isDeeper(value, levels) ? pointerTo(value, levels) : undefined
}

/** Whether a value of a depth that can be stored holds a number that is another one than was sent: beyond 2^53, or of no size, such as 1e400. */
export function hasInexact(value: unknown): boolean {
  if (typeof value === 'number') return !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) if (hasInexact(value[name as keyof typeof value])) return true
  return false
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (isDeeper(value[index], levels - 1)) return true
    return false
  }
  for (const name in value) if (isDeeper(value[name as keyof typeof value], levels - 1)) return true
  return false
}

function pointerTo(value: unknown, levels: number): string {
  let at = value
  let path = ''
  for (let left = levels; left > 0; left--) {
    const step = Object.entries(Object(at)).find(([, inner]) => isDeeper(inner, left - 1))
    if (!step) return path
    path += pointerStep(step[0])
    at = step[1]
  }
  return path
}

/** JSON text of a value of any depth. `JSON.stringify` calls itself for each level, and overflows the stack at some thousands. */
export function deepJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  const parts: string[] = []
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (next instanceof Literal) parts.push(next.text)
    else if (typeof next !== 'object' || next === null) parts.push(JSON.stringify(next) ?? 'null')
    else for (const piece of piecesOf(next).reverse()) waiting.push(piece)
  }
  return parts.join('')
}

/** Text that is JSON already. */
class Literal {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function piecesOf(value: object): unknown[] {
  const isList = Array.isArray(value)
  const pieces: unknown[] = [new Literal(isList ? '[' : '{')]
  for (const [name, inner] of Object.entries(value)) {
    const comma = pieces.length > 1 ? ',' : ''
    const label = isList ? '' : `${JSON.stringify(name)}:`
    pieces.push(new Literal(comma + label), inner)
  }
  pieces.push(new Literal(isList ? ']' : '}'))
  return pieces
}
