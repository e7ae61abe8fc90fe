/** So many differences make the changes of a body; of more it is stored whole. */
const MOST_DIFFERENCES = 2000

/** The inserted bytes of a body may be such a share of it. */
const MOST_INSERTED = 1 / 16

/** How many bytes have to be the same where two bodies go on together again, and how far from there that is looked for, in steps. */
const PROBE = 32
const STEP = 32
const NEAR = 4096
const FAR = 65_536

/** Shorter ones are not worth it. */
const SHORTEST = 100_000

/** So often it is looked for far away. */
const MOST_FAR = 16

/** Numbers of a difference: where the bytes before it begin in the other body, how many these are, and how many new ones follow. */
const NUMBERS = 3

/** Whether a body is long enough for changes. */
export function mayBeChanged(body: Uint8Array): boolean {
  return body.length >= SHORTEST
}

/**
 * A body as changes of another one: that, with a few pieces of its own, makes it again. Of versions of a long list, whose records are
 * mostly the same and in the same order, changes take a hundredth of the bytes.
 * @returns undefined where it is not much shorter than the body
 */
export function changesOf(base: Buffer, body: Buffer): Buffer | undefined {
  if (!mayBeChanged(body)) return undefined
  const numbers: number[] = []
  const inserted: Buffer[] = []
  let [from, at, size, far] = [0, 0, 0, 0]
  while (at < body.length) {
    const same = sameBytes(base, from, body, at)
    const next = { from: from + same, at: at + same }
    const near = next.at === body.length ? next : goesOn(base, body, next, NEAR)
    const again = near ?? (far++ < MOST_FAR ? goesOn(base, body, next, FAR) : undefined)
    const own = again ? again.at - next.at : body.length - next.at
    size += own
    if (size > MOST_INSERTED * body.length || numbers.length >= NUMBERS * MOST_DIFFERENCES) return undefined
    numbers.push(from, same, own)
    inserted.push(body.subarray(next.at, next.at + own))
    from = again?.from ?? base.length
    at = next.at + own
  }
  const head = Buffer.alloc(4 * (1 + numbers.length))
  for (const [nth, number] of [numbers.length / NUMBERS, ...numbers].entries()) head.writeUInt32LE(number, 4 * nth)
  return Buffer.concat([head, ...inserted])
}

/** The body that changes were made of. @throws RangeError where they are not changes of that base */
export function changedBody(base: Buffer, changes: Buffer): Buffer {
  const count = changes.readUInt32LE(0)
  const parts: Buffer[] = []
  let own = 4 * (1 + NUMBERS * count)
  const piece = (of: Buffer, start: number, length: number) => {
    if (start + length > of.length) throw new RangeError('changes of another body')
    parts.push(of.subarray(start, start + length))
  }
  for (let nth = 0; nth < count; nth++) {
    const [from, same, added] = [0, 1, 2].map((one) => changes.readUInt32LE(4 * (1 + NUMBERS * nth + one)))
    piece(base, from ?? 0, same ?? 0)
    piece(changes, own, added ?? 0)
    own += added ?? 0
  }
  return Buffer.concat(parts)
}

/** How many bytes of both are the same from there on. */
function sameBytes(base: Buffer, from: number, body: Buffer, at: number): number {
  const most = Math.min(base.length - from, body.length - at)
  let same = 0
  let isGrowing = true
  for (let step = 64; step > 0; step = isGrowing ? step * 2 : step >> 1) {
    const end = same + step
    const isSame = end <= most && body.compare(base, from + same, from + end, at + same, at + end) === 0
    if (isSame) same = end
    else isGrowing = false
  }
  return same
}

/** Where both go on together after a difference; undefined where that is not found so many bytes from there. */
function goesOn(base: Buffer, body: Buffer, { from, at }: { readonly from: number; readonly at: number }, far: number) {
  const there = base.subarray(from, from + far)
  for (let own = 0; own < far && at + own + PROBE <= body.length; own += STEP) {
    const found = there.indexOf(body.subarray(at + own, at + own + PROBE))
    if (found < 0) continue
    // The probe need not begin where the difference ends.
    let back = 0
    while (back < own && back < found && there[found - back - 1] === body[at + own - back - 1]) back++
    return { from: from + found - back, at: at + own - back }
  }
  return undefined
}
