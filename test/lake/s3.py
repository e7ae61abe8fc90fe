# A server with the protocol of S3 that checks signatures and rights, for ten minutes. Writes its URL, a key and its secret.
# Usage: s3.py BUCKET OUT
import json
import os
import sys
import time

# The four requests below need no rights; all others do.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
import boto3
from moto.server import ThreadedMotoServer

bucket, out = sys.argv[1:3]
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = f"http://127.0.0.1:{port}"
access = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="setup", aws_secret_access_key="setup")
iam = boto3.client("iam", **access)
boto3.client("s3", **access).create_bucket(Bucket=bucket)
iam.create_user(UserName="lake")
key = iam.create_access_key(UserName="lake")["AccessKey"]
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="lake", PolicyName="all", PolicyDocument=json.dumps(policy))
with open(f"{out}.new", "w") as file:
    json.dump({"url": url, "key": key["AccessKeyId"], "secret": key["SecretAccessKey"]}, file)
os.rename(f"{out}.new", out)
time.sleep(600)
