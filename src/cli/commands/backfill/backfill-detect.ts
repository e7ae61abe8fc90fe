import { visibleLine } from '../../../app/terminal-text.ts'
import { resources } from '../../../resources/index.ts'
import { detectResponses } from '../../../sync/backfill/git-detect.ts'
import { type Context, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'

/** `backfill --from-git REPOSITORY --detect`: lists what looks like responses, and loads nothing. Returns the exit code. */
export async function detectCommand(context: Context, repository: string): Promise<number> {
  const detected = await detectResponses(repository, resources)
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const maps = detected.map(({ glob, resource }) => ` --map ${quoted(`${glob}=${resource}`)}`)
  const command = `wynnsync backfill --from-git ${quoted(repository)}${maps.join('')}`
  const text =
    detected.length === 0
      ? `${repository}: no file of the last commit looks like a response of the API\n`
      : `${formatTable(['glob', 'resource', 'files', 'commits'], detected)}\n${visibleLine(command)}\n`
  writeSummary(context, { from: repository, detected }, text)
  return exitCode.done
}
