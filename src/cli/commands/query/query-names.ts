import { AmbiguousName } from '../../../analytics/asking/names.ts'
import { UsageError } from '../../../app/errors.ts'
import { formatTable } from '../../output/table.ts'

/** The same result; the error about a name that several have lists them in a table. */
export async function withHolders<T>(reading: Promise<T>): Promise<T> {
  return await reading.catch((error: unknown) => {
    if (!(error instanceof AmbiguousName)) throw error
    const hasPrefix = error.holders.some(({ prefix }) => prefix !== null)
    const columns = ['uuid', 'name', ...(hasPrefix ? ['prefix'] : []), 'since', 'until']
    throw new UsageError(`${error.message}:\n${formatTable(columns, error.holders)}`.trimEnd())
  })
}
