/** Requests, typed by the endpoints' rows: what each takes, and what it answers. */
import type { AnswerOf, BodyOf, ParamsOf, QueryOf } from '#libs/base/http/routes';
import type { manageRoutes } from '#libs/tenants/routes';

type Row = (typeof manageRoutes)[keyof typeof manageRoutes];
type At<Method, Path> = Extract<Row, { method: Method; path: Path }>;

export interface Call {
  /** for the `:name`s of the path */
  params?: Record<string, string>;
  query?: { limit?: number | undefined; cursor?: string | undefined };
  body?: object;
  /** the version that is to be changed: any other one is not */
  tag?: string | null;
  signal?: AbortSignal | undefined;
}

type Given<R> = Call &
  (R extends { params: unknown } ? { params: ParamsOf<R> } : { params?: never }) &
  (R extends { query: unknown } ? { query?: QueryOf<R> } : { query?: never }) &
  (R extends { body: unknown } ? { body: BodyOf<R> } : { body?: never });

export interface Called<Body> {
  body: Body;
  /** its version, where the answer has one */
  tag: string | null;
}

export type Ask = <Method extends Row['method'], Path extends Extract<Row, { method: Method }>['path']>(
  method: Method,
  path: Path,
  given: Given<At<Method, Path>>,
) => Promise<Called<AnswerOf<At<Method, Path>>>>;

export const bodyOf = <Body>({ body }: Called<Body>): Body => body;

/** The most that a page takes. */
const listed = 200;

/** Of what is listed in pages. Organizations have few of each thing. */
export async function readAll<Page extends { nextCursor: string | null }, Item>(
  ask: (query: { limit: number; cursor: string | undefined }) => Promise<Called<Page>>,
  itemsOf: (page: Page) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { body } = await ask({ limit: listed, cursor });
    items.push(...itemsOf(body));
    cursor = body.nextCursor;
  }
  return items;
}
