import { type SettingInUse, settingsInUse } from '../../../app/config.ts'
import { type Context, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'

/** `config show`: every setting with its value and source. Returns the exit code. */
export async function configShow(context: Context): Promise<number> {
  const settings = settingsInUse(context.flags)
  writeResult(
    context,
    { settings },
    formatTable(['setting', 'value', 'from'], settings.map(rowOf), { width: context.out.width, wraps: true }),
  )
  return exitCode.done
}

function rowOf({ name, value, source }: SettingInUse) {
  return { setting: name, value: value ?? '(not set)', from: source ?? '' }
}
