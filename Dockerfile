# docker build -t streamsieve . && docker run --rm streamsieve
FROM python:3.13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /streamsieve
COPY . .
RUN make .venv/with-cli
CMD ["make", "demo"]
