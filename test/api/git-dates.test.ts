import { describe, expect, test } from 'vitest'
import { datesOfCommits, type GitDates } from '../../src/api/recordings/git-history.ts'
import { gitRepository } from '../support/git-repository.ts'

const day = (text: string) => Date.parse(`2026-${text}T00:00:00Z`)
const rewritten = day('11-01')
const between = { earliest: Date.parse('2013-01-01T00:00:00Z'), latest: day('11-20') }

/** Dates of commits with these dates of the author and of the committer. */
async function dated(commits: readonly (readonly [written: number, committed: number])[], dates: GitDates = 'rising') {
  const repository = await gitRepository(
    commits.map(([written, at], nth) => ({ at, written, files: { 'a.json': String(nth) } })),
  )
  const { at, ...counts } = await datesOfCommits(repository, dates, between)
  return { at: [...at.values()].map((one) => new Date(one).toISOString().slice(5, 19)), ...counts }
}

describe('a commit is dated', () => {
  test('by its author where the history was rewritten and the dates of authors rise', async () => {
    const history = ['01-01', '02-01', '03-01'].map((one, nth) => [day(one), rewritten + 1000 * nth] as const)
    expect(await dated(history)).toEqual({
      at: ['01-01T00:00:00', '02-01T00:00:00', '03-01T00:00:00'],
      differing: 3,
      byAuthor: 3,
    })
    expect((await dated(history, 'committer')).at).toEqual(['11-01T00:00:00', '11-01T00:00:01', '11-01T00:00:02'])
  })

  test('after the commit before where one date of an author falls in a rewritten history', async () => {
    const dates = ['01-01', '03-01', '02-28', '04-01', '05-01']
    const { at } = await dated(dates.map((one, nth) => [day(one), rewritten + 1000 * nth] as const))
    expect(at).toEqual(['01-01T00:00:00', '03-01T00:00:00', '03-01T00:00:01', '04-01T00:00:00', '05-01T00:00:00'])
  })

  test('by its committer where the author wrote it long before, as a patch that was applied late', async () => {
    const history = [
      [day('01-02'), day('01-02')],
      [day('01-01'), day('01-03')],
      [day('01-04'), day('01-04')],
    ] as const
    expect(await dated(history)).toEqual({
      at: ['01-02T00:00:00', '01-03T00:00:00', '01-04T00:00:00'],
      differing: 1,
      byAuthor: 0,
    })
    expect((await dated(history, 'author')).at).toEqual(['01-02T00:00:00', '01-01T00:00:00', '01-04T00:00:00'])
  })

  test('by its committer where the date of the author cannot be: before the game or after the commit', async () => {
    const { at } = await dated([
      [1000, day('01-01')],
      [day('12-31'), day('01-02')],
      [day('01-03'), day('01-03')],
    ])
    expect(at).toEqual(['01-01T00:00:00', '01-02T00:00:00', '01-03T00:00:00'])
  })
})
