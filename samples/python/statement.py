"""A Python workflow that lets holodeck read the document and ask the agent.

    holodeck dev --config worker.yaml -- python statement.py statement.txt

The workflow is yours and runs here; `parse_document` and the node `figures`
are activities on the task queue that holodeck serves. They are called by name.
"""

import asyncio
import json
import os
import pathlib
import sys
import uuid
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import Worker

# Where this program's own workflow runs; the activities have a queue of theirs.
QUEUE = "statement-workflows"


@workflow.defn(name="statement")
class Statement:
    @workflow.run
    async def run(self, order: dict) -> dict:
        call = {
            "task_queue": order["activities"],
            "start_to_close_timeout": timedelta(minutes=2),
            "retry_policy": RetryPolicy(maximum_attempts=3),
        }
        document = await workflow.execute_activity("parse_document", order["file"], **call)
        answer = await workflow.execute_activity(
            "figures", {"message": document["markdown_content"], "context": None, "files": None}, **call
        )
        figures = answer["output"]
        return {
            "name": figures["name"],
            "surplus": figures["net_income"] - figures["total_expenses"],
            "read": document["metadata"]["source_name"],
            "tokens": answer["token_usage"]["total_tokens"],
        }


async def main(path: str) -> int:
    client = await Client.connect(
        os.environ.get("TEMPORAL_ADDRESS", "localhost:7233"),
        namespace=os.environ.get("TEMPORAL_NAMESPACE", "default"),
    )
    order = {
        "file": {"path": str(pathlib.Path(path).resolve())},
        "activities": os.environ.get("HOLODECK_TASK_QUEUE", "documents"),
    }
    async with Worker(client, task_queue=QUEUE, workflows=[Statement]):
        try:
            result = await client.execute_workflow(
                "statement", order, id=f"statement-{uuid.uuid4()}", task_queue=QUEUE
            )
        except WorkflowFailureError as failure:
            cause = failure.cause
            if isinstance(cause, ActivityError) and isinstance(cause.cause, ApplicationError):
                print(f"{cause.cause.type}: {cause.cause.message}", file=sys.stderr)
                return 1
            raise
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: statement.py FILE")
    code = asyncio.run(main(sys.argv[1]))
    # Everything is done. Leave without the interpreter's own clean-up: native
    # threads of temporalio 1.35 can still call into it and abort the process
    # (seen in 1 of 40 runs).
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
