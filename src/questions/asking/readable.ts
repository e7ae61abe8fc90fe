import { UsageError } from '../../base/errors.ts'
import { DURATION, INSTANT, instantOf } from '../../base/text/instants.ts'
import type { Argument } from '../questions.ts'

/** An argument that cannot be read, such as an instant that is none, or that asks for too much. */
export class WrongArgument extends UsageError {
  /** Its name; undefined when it is not clear which one is wrong. */
  readonly argument: string | undefined

  constructor(message: string, argument?: string) {
    super(message)
    this.argument = argument
  }
}

/** How values of a type are written. */
interface Form {
  /** What such a value is, for people. */
  readonly wanted: string
  readonly fits: (text: string) => boolean
}

const instant: Form = {
  wanted: INSTANT,
  fits: (text) => /^\s*-?infinity\s*$/i.test(text) || instantOf(text, 0) !== undefined,
}

const wholeNumber: Form = { wanted: 'a whole number such as 7', fits: (text) => /^\s*[+-]?\d{1,9}\s*$/.test(text) }

const number: Form = {
  wanted: 'a number such as 0.5',
  fits: (text) => text.trim() !== '' && !Number.isNaN(Number(text)),
}

const uuid: Form = {
  wanted: 'a uuid such as 123e4567-e89b-12d3-a456-426614174000',
  fits: (text) => /^\{?([0-9a-f]{4}-?){7}[0-9a-f]{4}\}?$/i.test(text.trim()),
}

/** Postgres reads many more; those of zero or less have no place here. */
const length: Form = {
  wanted: DURATION,
  fits: (text) => /[1-9]/.test(text) && /^\s*\d/.test(text) && /^[\w\s:.+]+$/.test(text),
}

const truth: Form = {
  wanted: 'true or false',
  fits: (text) => /^\s*(true|false|t|f|yes|no|on|off|0|1)\s*$/i.test(text),
}

const document: Form = {
  wanted: 'a JSON document',
  fits: (text) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  },
}

const day: Form = {
  wanted: 'a day such as 2026-05-01',
  fits: (text) => /^\s*\d{4}-\d\d-\d\d\s*$/.test(text) && instantOf(text, 0) !== undefined,
}

const list: Form = { wanted: 'a list such as {a,b}', fits: (text) => /^\s*\{.*\}\s*$/s.test(text) }

const bytes: Form = { wanted: 'bytes such as \\x00ff', fits: (text) => /^\\x([0-9a-f]{2})*$/i.test(text) }

const forms: Readonly<Record<string, Form>> = {
  date: day,
  'text[]': list,
  bytea: bytes,
  'timestamp with time zone': instant,
  uuid,
  interval: length,
  boolean: truth,
  smallint: wholeNumber,
  integer: wholeNumber,
  bigint: number,
  numeric: number,
  real: number,
  'double precision': number,
  json: document,
  jsonb: document,
}

/** The first argument that is not written as its type is; undefined where all are. */
export function unreadable(args: readonly Argument[]): (Argument & { readonly wanted: string }) | undefined {
  const known = args.flatMap((one) => {
    const form = forms[one.type]
    return form ? [{ ...one, ...form }] : []
  })
  return known.find(({ fits, value }) => !fits(value))
}
