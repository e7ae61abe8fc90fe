import { describe, expect, test } from 'vitest'
import { statementFor } from '../../src/questions/asking/ask.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { givenOf } from '../support/every-question.ts'
import { liveSevenHours } from '../support/report-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { instantOf, worldOf } from '../support/world.ts'

/** What a column of each type can hold at most, stored by an earlier program. */
const extremes: Readonly<Record<string, readonly string[]>> = {
  integer: ['2147483647', '-2147483648'],
  bigint: ['9007199254740991', '-9007199254740991'],
  real: ['3e38', '-3e38', '1e-37'],
  'double precision': ['1e99', '-1e99', '1e19', '1e-99'],
}

describe('no question fails', { timeout: 600_000 }, () => {
  const world = worldOf('server')

  test.each([
    ['liveSevenHours', liveSevenHours],
    ['liveWholeWorld', liveWholeWorld],
  ])('whatever numbers are stored (%s)', async (_name, live) => {
    await live(world)
    const columns = await world.db.query<{ table: string; column: string; type: string }>(
      `select format('%I.%I', table_schema, table_name) as table, column_name as column, data_type as type
         from information_schema.columns
        where table_schema = 'game' and is_generated = 'NEVER' and identity_generation is null
          and not exists (select from information_schema.key_column_usage used
                           where used.table_schema = columns.table_schema and used.table_name = columns.table_name
                             and used.column_name = columns.column_name)
        order by 1, 2`,
    )
    const given = await givenOf(world.db, new Date(instantOf('00:00')), new Date(instantOf('02 00:00')))
    const failed: string[] = []
    const round = async (nth: number) => {
      for (const { table, column, type } of columns) {
        const value = extremes[type]?.[nth]
        if (value === undefined) continue
        await world.db
          .query(`update ${table} set ${column} = ${value}`)
          .catch((error) => failed.push(`${table}.${column}: ${error}`))
      }
      for (const question of await readQuestions(world.db)) {
        const asked = question.parameters.map(({ name, type }) => ({ name, type, value: given[name] || '31' }))
        const { text, values } = statementFor(question, { args: asked }, 0)
        await world.db
          .values(`select answer::text from (${text}) answer`, values)
          .catch((error) => failed.push(`${question.name}, ${nth}: ${error}`))
      }
    }
    for (let nth = 0; nth < 4; nth++) await round(nth)
    expect(failed).toEqual([])
  })
})
