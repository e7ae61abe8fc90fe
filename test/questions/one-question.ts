import { UsageError } from '../../src/base/errors.ts'
import { WrongArgument } from '../../src/questions/asking/readable.ts'
import type { Question } from '../../src/questions/questions.ts'

export const instant = 'timestamp with time zone'
export const column = (name: string, type: string) => ({ name, type, comment: null })
export const view: Question = {
  name: 'bow',
  kind: 'view',
  comment: null,
  parameters: [],
  columns: [
    column('internal_name', 'text'),
    column('level', 'integer'),
    column('seen_at', instant),
    column('kept', 'interval'),
    column('stats', 'jsonb'),
    column('tags', 'text[]'),
    column('is_sold', 'boolean'),
    column('owner', 'uuid'),
    column('day', 'date'),
  ],
}
export const call: Question = {
  name: 'online',
  kind: 'function',
  comment: null,
  parameters: [
    { name: 'guild', type: 'uuid', optional: false },
    { name: 'player', type: 'uuid', optional: false },
    { name: 'from_time', type: instant, optional: false },
    { name: 'to_time', type: instant, optional: false },
    { name: 'step', type: 'interval', optional: true },
    { name: 'n', type: 'integer', optional: true },
    { name: 'kind', type: 'text', optional: true, values: ['wars', 'raids'] },
  ],
  columns: [column('at', instant), column('online', 'integer'), column('n', 'integer')],
}
/** What is refused, and which argument it is about. */
export const refusal = (read: () => unknown) => {
  try {
    return ['taken', read()]
  } catch (error) {
    if (error instanceof WrongArgument) return [error.message, error.argument]
    if (error instanceof UsageError) return [error.message.split('\n')[0]]
    throw error
  }
}
