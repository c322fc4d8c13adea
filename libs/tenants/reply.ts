/** The response of a handler. */
import type { Context } from '#libs/base/http/context';
import { setVersion } from '#libs/base/http/etag';
import type { LogRead } from './log-reads.ts';

export interface Reply<Body> {
  /** default: 200 */
  status?: number;
  /** text and bytes are sent as they are */
  body: Body;
  /** of text and bytes */
  type?: string;
  /** of what is shown, sent as its `ETag` */
  version?: number;
  headers?: Record<string, string>;
  /** what it shows of the log, for an administrative act */
  read?: LogRead;
}

export function send(ctx: Context, { status = 200, body, type, version, headers = {} }: Reply<unknown>): void {
  ctx.set(headers);
  if (version !== undefined) setVersion(ctx, { version });
  if (type !== undefined) ctx.type = type;
  ctx.status = status;
  ctx.body = body;
}
