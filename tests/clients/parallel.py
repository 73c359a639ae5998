"""An agent's side of `jp-policy serve`, by the Python SDK of MCP: calls one tool many times at once.

    parallel.py MODE COUNT TOOL http://127.0.0.1:8931/mcp
    parallel.py MODE COUNT TOOL jp-policy serve ...

MODE is the SDK's: `auto` or `legacy`. Each call has its number as argument `n`. Prints, as one line of JSON: the names of the tools
on offer, the text of each result in the order of the calls, how many were errors, and the messages of progress, each once.
"""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def main(mode: str, count: int, tool: str, server: list[str]) -> None:
    if server[0].startswith("http"):
        where = server[0]
    else:
        where = StdioServerParameters(command=server[0], args=server[1:])
    said = []

    async def progress(_done: float, _total: float | None, message: str | None) -> None:
        said.append(message)

    async with Client(where, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        calls = [client.call_tool(tool, {"n": n}, progress_callback=progress) for n in range(count)]
        results = await asyncio.gather(*calls)
    texts = [result.content[0].text for result in results]
    errors = sum(bool(result.is_error) for result in results)
    print(json.dumps({"tools": tools, "texts": texts, "errors": errors, "progress": sorted(set(said))}))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
